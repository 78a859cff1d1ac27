package dev.lockstep.spi;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import java.time.Duration;
import java.util.OptionalInt;

/** A request to an engine for one lock, for one client. Immutable. */
public interface ClaimRequest {
    /**
     * The lock's name.
     *
     * @return a valid lock name
     */
    String name();

    /**
     * How it is to be held.
     *
     * @return the mode; {@code SHARED} only where {@link Traits#shared()}
     */
    LockMode mode();

    /**
     * Makes the name a semaphore: how many permits there are in all, for shared claims that hold together. The engine
     * keeps the number with the name while any claim holds it or waits for it, and compares: a claim with another
     * number, or without a number although the name has one, fails with a {@link
     * dev.lockstep.LockConfigurationException}, and leaves nothing behind.
     *
     * @return positive; empty for a lock. Present only where {@link Traits#limits()}, and then {@link #mode()} is {@code
     *     SHARED}
     */
    default OptionalInt limit() {
        return OptionalInt.empty();
    }

    /**
     * How many permits of a semaphore the claim takes: all at once or none. Later claims do not overtake a claim that
     * waits for many.
     *
     * @return from 1 to {@link #limit()}; 1 for a lock
     */
    default int permits() {
        return 1;
    }

    /**
     * Whether the claim waits while others hold the lock. If not, its outcome is then {@link Outcome.Busy}, and it
     * leaves nothing in the engine.
     *
     * @return true to wait
     */
    boolean mayWait();

    /**
     * Whether the claim may be granted before claims that wait. If not, it queues behind them: strictly where {@link
     * Traits#fair()}, and after at least one poll interval where the engine has no queue.
     *
     * @return true to barge
     */
    boolean mayBarge();

    /**
     * How long {@link LockBackend#submit} may block the calling thread for its one round trip.
     *
     * @return zero to return at once
     */
    Duration blockAtMost();

    /**
     * Identifies the claim uniquely, among all clients and for all time: 24 to 40 characters of {@code [A-Za-z0-9_.-]}.
     *
     * @return the client's id, a dot and a number
     */
    String claimId();

    /**
     * The client and thread that ask, for people to read.
     *
     * @return the client and thread that ask
     */
    HolderInfo holder();

    /**
     * The listener for what happens to the claim and its grant.
     *
     * @return the same listener at each call
     */
    GrantListener listener();

    /**
     * The {@link Scheduler#nanoTime()} at which the core made this request: before anything of it was sent, so that
     * validity may count from it.
     *
     * @return nanoseconds since the scheduler's origin
     */
    long sentNanos();
}
