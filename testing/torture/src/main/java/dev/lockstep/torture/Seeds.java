package dev.lockstep.torture;

import java.util.Random;

/**
 * Random numbers for one step of a schedule. Each step has its own, so that what it draws does not depend on how the steps
 * before it went: a seed plays the same schedule again, however the run turns out.
 */
final class Seeds {
    private Seeds() {}

    static Random of(long seed, long... step) {
        long mixed = mix(seed);
        for (long each : step) {
            mixed = mix(mixed + each);
        }
        return new Random(mixed);
    }

    /** Spreads a number over all bits, since neighbouring seeds would give similar numbers (the finisher of SplitMix64). */
    private static long mix(long number) {
        long mixed = number + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }
}
