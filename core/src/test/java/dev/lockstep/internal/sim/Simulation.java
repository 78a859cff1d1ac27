package dev.lockstep.internal.sim;

import org.jspecify.annotations.Nullable;

/** The way in: histories by their seeds. */
public final class Simulation {
    private Simulation() {}

    /**
     * Runs histories until one is wrong.
     *
     * @param first the first seed
     * @param count how many seeds
     * @return what was wrong, with the seed and the end of its trace; null if nothing was
     */
    public static @Nullable String run(long first, long count) {
        for (long seed = first; seed < first + count; seed++) {
            String violation = History.run(seed);
            if (violation != null) {
                return violation;
            }
        }
        return null;
    }
}
