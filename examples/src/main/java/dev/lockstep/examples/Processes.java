package dev.lockstep.examples;

import dev.lockstep.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Simulates several processes: each has a client of its own, and shares nothing of Lockstep with the others. */
final class Processes {
    private Processes() {}

    /** The work of one thread of a process. */
    @FunctionalInterface
    interface Work {
        void run(LockClient locks) throws Exception;
    }

    /** Runs the work on all threads of all processes, until all are done or the first has failed. */
    static void run(String url, int processes, int threads, Work work) throws InterruptedException {
        List<LockClient> clients = new ArrayList<>();
        ExecutorService executor = Executors.newFixedThreadPool(processes * threads);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int process = 0; process < processes; process++) {
                LockClient locks = LockClient.connect(url);
                clients.add(locks);
                Callable<?> task = () -> {
                    work.run(locks);
                    return true;
                };
                for (int thread = 0; thread < threads; thread++) {
                    running.add(executor.submit(task));
                }
            }
            for (Future<?> thread : running) {
                thread.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } finally {
            executor.shutdownNow();
            clients.forEach(LockClient::close);
        }
    }
}
