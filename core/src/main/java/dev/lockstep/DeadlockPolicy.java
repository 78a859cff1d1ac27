package dev.lockstep;

/**
 * A client's behaviour in deadlocks: threads that hold locks and wait for each other's, in one process or in several.
 * Use the same one for all clients of an engine.
 *
 * @see LockClient.Builder#deadlocks(DeadlockPolicy)
 */
public enum DeadlockPolicy {
    /** The client records no waits in the engine and does not look for deadlocks. */
    OFF,

    /** The client reports a deadlock of one of its threads: {@link LockListener#onDeadlock} and a warning. */
    REPORT,

    /**
     * The client reports a deadlock. If the {@linkplain WaitGraph.Cycle#victim() victim} is one of its own calls and
     * has no deadline, that call fails with a {@link DeadlockException}. Its thread keeps the locks that it holds.
     */
    FAIL,

    /** Like {@link #FAIL}, and if all calls in the cycle have deadlines, the victim among them fails before its deadline. */
    FAIL_TIMED_TOO
}
