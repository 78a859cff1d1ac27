package dev.lockstep.benchmarks.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Threads that begin together. */
final class Crew {
    private final CountDownLatch start = new CountDownLatch(1);
    private final List<FutureTask<?>> tasks = new ArrayList<>();

    <T> FutureTask<T> add(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(() -> {
            start.await();
            return work.call();
        });
        tasks.add(task);
        Thread thread = new Thread(task, "crew-" + tasks.size());
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    void go() {
        start.countDown();
    }

    /** Fails if one of the threads that have ended did. */
    void check() throws ExecutionException, InterruptedException {
        for (FutureTask<?> task : tasks) {
            if (task.isDone()) {
                task.get();
            }
        }
    }

    /** Waits for all, and fails if one did. */
    void join() throws ExecutionException, InterruptedException {
        for (FutureTask<?> task : tasks) {
            task.get();
        }
    }
}
