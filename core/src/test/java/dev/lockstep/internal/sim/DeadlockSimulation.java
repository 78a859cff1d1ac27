package dev.lockstep.internal.sim;

import org.jspecify.annotations.Nullable;

/** Histories of threads that wait for each other, by their seeds. */
public final class DeadlockSimulation {
    private DeadlockSimulation() {}

    /**
     * Runs histories until one is wrong.
     *
     * @param first the first seed
     * @param count how many seeds
     * @return what was wrong, with the seed and the end of its trace; null if nothing was
     */
    public static @Nullable String run(long first, long count) {
        for (long seed = first; seed < first + count; seed++) {
            if (new DeadlockHistory(seed, false).play() != null) {
                DeadlockHistory again = new DeadlockHistory(seed, true);
                return "seed " + seed + ": " + again.play() + "\n" + again.world.tail(80);
            }
        }
        return null;
    }

    /** The hash of the trace of a seed's history. */
    static long hash(long seed) {
        DeadlockHistory history = new DeadlockHistory(seed, false);
        history.play();
        return history.world.hash();
    }

    /** How many calls failed because of a deadlock in a seed's history. */
    static int victims(long seed) {
        DeadlockHistory history = new DeadlockHistory(seed, false);
        history.play();
        return history.victims();
    }
}
