package dev.lockstep.internal.election;

import dev.lockstep.LeaderTask;
import dev.lockstep.Term;
import org.jspecify.annotations.Nullable;

/**
 * One run of a candidate's task, for the provider of the thread. {@link #run} is all that a thread needs; a test
 * without threads calls {@link #begin} and {@link #returned} instead.
 */
public final class TermRun implements Runnable {
    private final Election election;
    private final Tenure tenure;
    private final LeaderTask task;

    TermRun(Election election, Tenure tenure, LeaderTask task) {
        this.election = election;
        this.tenure = tenure;
        this.task = task;
    }

    public Term term() {
        return tenure;
    }

    /**
     * The task is about to run.
     *
     * @param interrupt interrupts it; not called after {@link #returned}
     * @return false if the term has ended already: the task must not run
     */
    public boolean begin(Runnable interrupt) {
        return election.begin(tenure, interrupt);
    }

    /**
     * The task has returned, or did not run.
     *
     * @param failure what it threw; null if it returned
     */
    public void returned(@Nullable Throwable failure) {
        election.returned(tenure, failure);
    }

    @Override
    public void run() {
        Throwable failure = null;
        try {
            if (begin(Thread.currentThread()::interrupt)) {
                task.lead(tenure);
            }
        } catch (Throwable e) {
            failure = e;
        }
        returned(failure);
    }
}
