package dev.lockstep.internal.election;

import dev.lockstep.DistributedLock;
import dev.lockstep.Leader;
import dev.lockstep.Lease;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The functions that an election needs from its client. Safe for use by many threads. */
public interface ElectionHost {
    /**
     * The lock by which this candidate stands; requested again each time, since a late engine may turn out to have no
     * order.
     */
    DistributedLock lock();

    /** The leader, as the engine sees it. */
    CompletionStage<Optional<Leader>> leader();

    /** Calls soon after the engine may show another leader, if it can push that. */
    LockBackend.Watch watchLeader(Runnable changed);

    /**
     * Runs code of the election when a lease of the lock is lost: at once, in the thread that finds the loss, since users'
     * code may keep the executor busy. The code must not wait.
     */
    void onLoss(Lease lease, Runnable code);

    /** Runs the task of a term in a thread where it may run for any time. */
    void lead(TermRun run);

    /** Runs users' code, soon. */
    void execute(Runnable code);

    Scheduler scheduler();

    Backoff backoff();

    Duration ttl();

    Duration requestTimeout();

    /** The engine, as messages name it. */
    String engine();

    boolean isClosed();

    /** The candidate is closed, and its task has returned. */
    void ended();
}
