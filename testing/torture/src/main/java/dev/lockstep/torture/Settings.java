package dev.lockstep.torture;

import java.time.Duration;
import java.util.Random;

/**
 * The settings of a run. The first three threads of a worker take the first four locks, and sometimes hold them for
 * longer than the ttl, which shows that deadlines are kept. The other threads take the other locks and hold them only
 * briefly, which makes many sections. If there are no other locks or no other threads, all threads share all locks.
 *
 * @param workers how many processes; on memory, clients
 * @param threads how many threads each
 * @param locks how many locks they share
 * @param duration how long things are broken
 * @param seed decides what the workers do and what is broken
 */
public record Settings(int workers, int threads, int locks, Duration duration, long seed) {
    private static final int LONG_LOCKS = 4;
    static final int LONG_THREADS = 3;

    /**
     * Three workers of 24 threads on 44 locks, with a random seed.
     *
     * @param duration how long things are broken
     * @return the settings
     */
    public static Settings of(Duration duration) {
        return new Settings(3, 24, 44, duration, new Random().nextInt(1_000_000));
    }

    /** Whether a thread holds its locks long, and not briefly. */
    boolean holdsLong(int thread) {
        return !hasBrief() || thread < LONG_THREADS;
    }

    private boolean hasBrief() {
        return locks > LONG_LOCKS && threads > LONG_THREADS;
    }

    /** The lock of a thread's next turn. */
    int draw(int thread, Random random) {
        if (holdsLong(thread)) {
            return random.nextInt(hasBrief() ? LONG_LOCKS : locks);
        }
        // One of its own few locks, the last of which is the next thread's first. The same threads of the other workers
        // have
        // the same locks. So the locks of a worker that is paused do not stop all threads of the others.
        int brief = locks - LONG_LOCKS;
        int briefThreads = threads - LONG_THREADS;
        int own = (brief + briefThreads - 1) / briefThreads;
        return LONG_LOCKS + ((thread - LONG_THREADS) * own + random.nextInt(own + 1)) % brief;
    }

    Settings withSeed(long newSeed) {
        return new Settings(workers, threads, locks, duration, newSeed);
    }
}
