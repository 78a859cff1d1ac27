package dev.lockstep.torture;

import java.time.Duration;

/** Hears how far a run is, often and from one thread. */
@FunctionalInterface
public interface Progress {
    /**
     * Reports how far it is.
     *
     * @param engine which engine is tortured
     * @param passed for how long things have been broken
     * @param sections how many times a lock has been entered
     * @param faults how many faults there have been
     */
    void at(String engine, Duration passed, long sections, long faults);
}
