package dev.lockstep.benchmarks.worker;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Time that passes, where that is what is measured, or where no library can tell that a claim has reached its engine. */
final class Pause {
    private Pause() {}

    static void millis(long millis) throws InterruptedException {
        boolean woken = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
        if (woken) {
            throw new AssertionError();
        }
    }

    static void forEver() throws InterruptedException {
        new CountDownLatch(1).await();
    }
}
