package dev.lockstep;

/** The work of a candidate while it leads. */
@FunctionalInterface
public interface LeaderTask {
    /**
     * Leads. Runs in a thread of its own, one call at a time for each {@link LeaderElection}. The term ends when this
     * method returns or throws; to lead for as long as possible, do not return.
     *
     * <p>The thread is interrupted when the term ends earlier: when it is lost, or the candidate resigns or closes. The
     * method should then return soon. Until it has returned, the candidate does not stand again, but if the term was
     * lost, another candidate may lead already: pass {@link Term#token()} to storage with each write.
     *
     * @param term the term
     * @throws Exception if the task failed; it is logged, and the candidate stands again after a pause
     */
    void lead(Term term) throws Exception;
}
