package dev.lockstep.architecture.offending;

import java.util.concurrent.TimeUnit;

/** Calls what main code may not. */
final class Sleeper {
    private Sleeper() {}

    static long now() {
        return System.currentTimeMillis();
    }

    static void threadSleep() throws InterruptedException {
        Thread.sleep(1);
    }

    static void unitSleep() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(1);
    }
}
