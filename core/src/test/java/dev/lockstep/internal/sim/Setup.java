package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

/** The choices for one history: how many clients there are, and how nasty the world is. */
final class Setup {
    static final long TTL = 600 * MILLI;

    /** The time by which a client's clock may run ahead in a ttl, as far as the engine allows for it. */
    static final long DRIFT = 10 * MILLI;

    /** Short: a client's close() waits for it by the real clock if it is wrong. */
    static final long REQUEST_TIMEOUT = 150 * MILLI;

    static final long POLL = 40 * MILLI;

    /** The behaviour of clients when the engine is gone. */
    enum Fallback {
        NONE,
        /** An engine of each node's own, which always answers. */
        OWN,
        /** Another engine for all nodes, which can be unreachable too. */
        SHARED
    }

    final Fallback fallback;

    /** How long the engine must have been silent before a client falls back. */
    final long fallbackAfter;

    final int nodes;
    final int names;
    final int steps;

    /** One bit for each name. */
    final int fairNames;

    final boolean reportsWanted;

    /** One bit for each name. */
    final int stickyNames;

    final long sticky;

    /** One bit for each name. */
    final int nonReentrantNames;

    /** Releases only hint to the first in the queue, which claims again; others may come first. */
    final boolean hints;

    /** Exclusive grants can be made shared. */
    final boolean downgrades;

    /** The loss of a grant that an operator ends is reported before the lock is granted again. */
    final boolean tellsLossFirst;

    final boolean directExecutor;
    final boolean listens;
    final boolean readers;
    final boolean synchronous;
    final boolean faults;
    final boolean fullyAsync;

    /** Percent of messages that are lost, while faults last. */
    final int loss;

    /** Percent of messages that take no time, so that stages complete inside the call. */
    final int inline;

    /** Percent of messages that are very late. */
    final int late;

    final long maxGap;
    final long maxHold;

    /** How many locks are claimed and released together; each answer is late or lost on its own. */
    final int batchSize;

    Setup(World world) {
        nodes = 1 + world.below(3);
        names = world.chance(70) ? 1 : 2;
        steps = 20 + world.below(40);
        fairNames = world.chance(70) ? 0 : world.below(4);
        reportsWanted = world.chance(75);
        stickyNames = reportsWanted && world.chance(25) ? world.below(4) & ~fairNames : 0;
        sticky = 1 + world.time(60 * MILLI);
        nonReentrantNames = world.chance(75) ? 0 : world.below(4);
        fallback = world.chance(80) ? Fallback.NONE : world.chance(50) ? Fallback.OWN : Fallback.SHARED;
        fallbackAfter = (20 + world.below(280)) * MILLI;
        hints = world.chance(30);
        downgrades = world.chance(60);
        tellsLossFirst = world.chance(50);
        directExecutor = world.chance(70);
        listens = world.chance(20);
        readers = world.chance(50);
        synchronous = world.chance(40);
        faults = world.chance(70);
        fullyAsync = world.chance(30);
        loss = !faults || world.chance(30) ? 0 : world.below(25);
        inline = fullyAsync ? 0 : world.chance(30) ? 100 : world.below(90);
        late = faults ? world.below(5) : 0;
        maxGap = MILLI * (world.chance(60) ? 3 : world.chance(50) ? 30 : 150);
        maxHold = MILLI * (world.chance(60) ? 3 : 60);
        batchSize = world.chance(60) ? 2 : 1;
    }

    boolean isSticky(int name) {
        return (stickyNames & 1 << name) != 0;
    }

    boolean isReentrant(int name) {
        return (nonReentrantNames & 1 << name) == 0;
    }

    /** Whether locks can be taken together: they must be of one kind, and of one engine. */
    boolean hasMultiLocks() {
        return names > 1
                && fallback == Fallback.NONE
                && fairNames == 0
                && (stickyNames == 0 || stickyNames == 3)
                && (nonReentrantNames == 0 || nonReentrantNames == 3);
    }

    boolean isFair(int name) {
        return (fairNames & 1 << name) != 0;
    }
}
