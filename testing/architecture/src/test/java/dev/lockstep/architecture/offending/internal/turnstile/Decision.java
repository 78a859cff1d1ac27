package dev.lockstep.architecture.offending.internal.turnstile;

import dev.lockstep.architecture.offending.spi.Grant;
import dev.lockstep.architecture.offending.spi.Scheduler;

/** Acts in place of leaving an effect. */
public class Decision {
    Object act() {
        return new Action();
    }

    Object request(Grant grant) {
        return grant.release();
    }

    long read(Grant grant) {
        return grant.token();
    }

    Scheduler.Timer setTimer(Scheduler scheduler) {
        return scheduler.schedule(1, () -> {});
    }

    void cancelTimer(Scheduler.Timer timer) {
        timer.cancel();
    }

    void watch(TurnstileContext client) {
        client.watchDeadline(1);
    }

    long time(Scheduler scheduler) {
        return scheduler.nanoTime();
    }

    static class Nested {
        Object act() {
            return new Action();
        }
    }
}
