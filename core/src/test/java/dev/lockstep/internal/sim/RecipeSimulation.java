package dev.lockstep.internal.sim;

import org.jspecify.annotations.Nullable;

/** Histories of elections and of semaphores, by their seeds. */
public final class RecipeSimulation {
    private RecipeSimulation() {}

    /**
     * Runs histories until one is wrong.
     *
     * @param first the first seed
     * @param count how many seeds
     * @return what was wrong, with the seed and the end of its trace; null if nothing was
     */
    public static @Nullable String run(long first, long count) {
        for (long seed = first; seed < first + count; seed++) {
            if (make(seed, false).play() != null) {
                RecipeWorld again = make(seed, true);
                return "seed " + seed + ": " + again.play() + "\n" + again.world.tail(60);
            }
        }
        return null;
    }

    /** The hash of the trace of a seed's history. */
    static long hash(long seed) {
        RecipeWorld history = make(seed, false);
        history.play();
        return history.world.hash();
    }

    private static RecipeWorld make(long seed, boolean recording) {
        return seed % 2 == 0 ? new ElectionHistory(seed, recording) : new SemaphoreHistory(seed, recording);
    }
}
