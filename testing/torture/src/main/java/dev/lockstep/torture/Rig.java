package dev.lockstep.torture;

import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.List;

/** An engine that is set up to be tortured. For one thread. */
interface Rig extends AutoCloseable {
    /** A description for people. */
    String name();

    Duration ttl();

    /** How long after a fault holds from before it can have an effect. */
    default Duration settle() {
        return ttl().multipliedBy(2);
    }

    /**
     * How long after the last fault a call may still fail because of it. A request that was sent before the fault ended may
     * go unanswered, so its call fails, or its release stays unconfirmed, for as long as the request timeout. Then a retry
     * after the longest backoff reaches the healthy engine.
     */
    Duration recovery();

    /** How long a thread that holds locks briefly may rest after each turn. */
    default Duration pause() {
        return Duration.ZERO; // the engine takes long enough
    }

    /** Starts the workers. */
    List<Hand> start(Observer observer, List<Worker.Plan> plans);

    /** The parts that can be broken. */
    List<Fault> faults();

    /** A client that nothing hurts. */
    LockClient connect();

    /** The records that are left at the engine when all workers have closed their clients. */
    List<String> leftovers();

    @Override
    void close();
}
