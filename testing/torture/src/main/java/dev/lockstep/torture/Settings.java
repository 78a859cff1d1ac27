package dev.lockstep.torture;

import java.time.Duration;
import java.util.Random;

/**
 * What a run is like.
 *
 * @param workers how many processes; on memory, clients
 * @param threads how many threads each
 * @param locks how many locks they share
 * @param duration how long things are broken
 * @param seed decides what the workers do and what is broken
 */
public record Settings(int workers, int threads, int locks, Duration duration, long seed) {
    /**
     * Three workers of three threads on four locks, with a random seed.
     *
     * @param duration how long things are broken
     * @return the settings
     */
    public static Settings of(Duration duration) {
        return new Settings(3, 3, 4, duration, new Random().nextInt(1_000_000));
    }
}
