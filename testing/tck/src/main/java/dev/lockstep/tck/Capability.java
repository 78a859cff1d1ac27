package dev.lockstep.tck;

/**
 * The abilities of an engine, and of a fixture that tests it. A test that needs a capability which the fixture does not
 * declare is skipped, and reported as skipped.
 *
 * <p>The first group says what the engine offers, and mirrors {@link dev.lockstep.spi.Traits}; the second says which
 * of the methods of {@link BackendFixture} work.
 */
public enum Capability {
    /**
     * The engine has shared locks, and so read-write locks. Without it, asking for one must fail with a clear error.
     */
    SHARED,

    /** The engine grants fair locks in the order of arrival. */
    FAIR,

    /** The engine limits how many shared claims hold together: it has semaphores. Without it, asking for one must fail. */
    LIMITS,

    /** The engine turns an exclusive grant into a shared one in place, so that other clients' readers get in. */
    DOWNGRADE,

    /** The engine wakes waiters itself, rather than being polled by them. */
    PUSH,

    /** The engine pushes that the holders of a lock may have changed, see {@link dev.lockstep.spi.LockBackend#watch}. */
    PUSHES_CHANGES,

    /** The engine notifies a holder that another client waits. */
    TELLS_WANTED,

    /** The engine knows who waits, so that {@link dev.lockstep.LockClient#inspect} shows it: it has a queue. */
    SHOWS_WAITERS,

    /** The engine stores which lock a holder waits for, so that {@link dev.lockstep.LockClient#waitGraph()} shows it. */
    RECORDS_WAITS,

    /** The engine can expire a single lock, so that it stays held for its minimum time though its client closes. */
    KEEPS_WHEN_CLOSED,

    /** The engine knows when it would free a lock by itself, so that {@link dev.lockstep.LockClient#inspect} shows it. */
    SHOWS_REMAINING,

    /** The engine keeps when it granted a lock, so that {@link dev.lockstep.LockClient#inspect} shows it. */
    SHOWS_GRANTED,

    /** The engine lists its namespaces, see {@link dev.lockstep.LockClient#namespaces()}, and shows the locks of others. */
    LISTS_NAMESPACES,

    /** The backend reports its requests, see {@link dev.lockstep.spi.BackendContext#requests()}. */
    REPORTS_REQUESTS,

    /** {@link BackendFixture#breakConnection}, {@link BackendFixture#silence} and {@link BackendFixture#healConnection} work. */
    BREAK_CONNECTION,

    /** {@link BackendFixture#loseReplies} works, undone by {@link BackendFixture#healConnection}. */
    LOSE_REPLIES,

    /** {@link BackendFixture#slowDown} works, undone by {@link BackendFixture#healConnection}. */
    SLOW_DOWN,

    /** {@link BackendFixture#expireSession} works. */
    EXPIRE_SESSION,

    /** {@link BackendFixture#restartServer} works. */
    RESTART_SERVER,

    /** {@link BackendFixture#requestCount} works. */
    COUNT_REQUESTS,

    /** {@link BackendFixture#url} has a URL that another process can use. */
    SECOND_PROCESS
}
