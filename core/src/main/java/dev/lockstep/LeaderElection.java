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
 *   <li><b>Never two valid terms.</b> A term is valid until a local deadline, before which the engine cannot elect
 *       another candidate.
 *   <li><b>A leader that dies is replaced</b> after at most its client's ttl; one that resigns or closes, at once.
 *   <li><b>A pause can outlast any term.</b> Only storage that compares {@link Term#token()} can refuse what a leader writes
 *       after a pause.
 * </ul>
 *
 * <p>When its task has returned, normally or because the term was lost and the task was interrupted, the candidate
 * stands again; never before the task has returned. When the engine is unreachable or refuses, the candidate tries
 * again with the client's backoff, and logs why.
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
     * Returns whether this candidate leads now: its term is valid, and has not been given up. No I/O.
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
     * Adds a listener for changes of the leader. It is called on the client's executor, one call at a time: once with
     * the present leader, and then each time the engine shows another leader or none. Exceptions that it throws are
     * logged.
     *
     * <p>The candidate asks the engine at once when its own term begins or ends, and when the engine reports a change,
     * as memory, ZooKeeper and etcd do. While there are listeners, it also asks once in each third of the ttl; on
     * Redis, Redlock and SQL databases, this is the only way to notice changes among other candidates. A leader that
     * came and went between two such requests is not seen.
     *
     * @param listener receives the leader, or empty if nobody leads
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
     * when the term is released: as soon as the task has returned, or about the request timeout later. It waits as long
     * for the task of a term that was lost. If the task itself calls it, the term is released when the task returns.
     * Closing it again does nothing.
     *
     * <p>A client that is closed ends its elections, too, but without waiting for their tasks: terms are lost with {@link
     * LossReason#CLIENT_CLOSED}. So close elections first.
     */
    @Override
    void close();
}
