package dev.lockstep.internal.election;

import dev.lockstep.DistributedLock;
import dev.lockstep.Leader;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** What an election needs of its client. Safe for use by many threads. */
public interface ElectionHost {
    /** The lock by which this candidate stands; asked for anew each time, since a late engine may turn out to have no order. */
    DistributedLock lock();

    /** Who leads, as the engine sees it. */
    CompletionStage<Optional<Leader>> leader();

    /** Runs the task of a term, where it may take as long as it likes. */
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
