package dev.lockstep.architecture.offending.internal.turnstile;

import dev.lockstep.architecture.offending.spi.Scheduler;

/** Decides in place of posting an event. */
public class Action {
    Object decide() {
        return new Decision();
    }

    Scheduler.Timer setTimer(Scheduler scheduler) {
        return scheduler.schedule(1, () -> {});
    }
}
