package dev.lockstep;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * One candidate of an election: at most one candidate of a name leads at a time, over all processes. Made by {@link
 * LockClient#election(String, LeaderTask)}; it stands from then on, until {@link #close()}.
 *
 * <pre>{@code
 * try (LeaderElection election = locks.election("scheduler", term -> scheduler.runUntilInterrupted(term.token()))) {
 *     service.run();
 * }
 * }</pre>
 *
 * <p>An election is a lock with a task: on an engine with fair locks, candidates lead in the order in
 * which they came; on others, in any order. The guarantees of locks apply to it:
 *
 * <ul>
 *   <li><b>Never two valid terms.</b> A term is valid until a local deadline, which lies before the moment at which the
 *       engine can elect somebody else.
 *   <li><b>A leader that dies is replaced</b> after at most its client's ttl; one that resigns or closes, at once.
 *   <li><b>A pause can outlast any term.</b> Only storage that compares {@link Term#token()} can refuse what a leader writes
 *       after a pause.
 * </ul>
 *
 * <p>When its task has returned, or was interrupted because the term was lost, the candidate stands again; never before the
 * task has returned. When the engine is away or refuses, it tries again with the client's backoff, and logs why.
 *
 * <p>Safe for use by many threads.
 */
public interface LeaderElection extends AutoCloseable {
    /**
     * Names the election. It is the name of its lock.
     *
     * @return the name
     */
    String name();

    /**
     * Tells whether this candidate leads now: its term is valid, and has not been given up. No I/O.
     *
     * @return true if it leads
     */
    boolean isLeader();

    /**
     * Asks the engine who leads; see {@link LockClient#leader(String)}.
     *
     * @return the leader, or empty if nobody leads
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    Optional<Leader> leader();

    /**
     * Adds a listener for changes of the leader. It is called on the client's executor, one call at a time: once with the
     * present leader, and then each time the engine shows another leader or none. What it throws is logged.
     *
     * <p>When this candidate begins or ends a term, it looks at once. No engine tells a client which other client holds a
     * lock, so changes among others are found by one look in a third of the ttl, while there are listeners. A leader that came
     * and went between two looks is not seen.
     *
     * @param listener is given the leader, or empty if nobody leads
     */
    void onChange(Consumer<Optional<Leader>> listener);

    /**
     * Gives up leadership, if this candidate leads, and stands again behind those that wait. The task is interrupted, and
     * {@link #isLeader()} is false from now on. The term is released as soon as the task has returned, or after the request
     * timeout if it does not return. Does not wait for that.
     *
     * @return false if this candidate does not lead, or has given up leadership already
     */
    boolean resign();

    /**
     * Ends the candidacy. If this candidate leads, it gives up leadership as by {@link #resign()}, and this method returns
     * when the term is released: as soon as the task has returned, or about the request timeout later. If the task itself
     * calls it, the term is released when the task returns. Closing it again does nothing.
     *
     * <p>A client that is closed ends its elections, too, but without waiting for their tasks: terms are lost with {@link
     * LossReason#CLIENT_CLOSED}. So close elections first.
     */
    @Override
    void close();
}
