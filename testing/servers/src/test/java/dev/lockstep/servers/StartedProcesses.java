package dev.lockstep.servers;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Starts one process after the other until it is closed. Until such a process runs its own program, it has the sockets
 * of this JVM.
 */
final class StartedProcesses implements AutoCloseable {
    /** Enough that some of them have a socket that should be closed. */
    static final int MANY = 200;

    private final AtomicInteger count = new AtomicInteger();
    private final Thread starting = new Thread(this::start, "started-processes");
    private volatile boolean closed;

    StartedProcesses() {
        starting.start();
    }

    private void start() {
        try {
            while (!closed) {
                new ProcessBuilder("true").start().waitFor();
                count.incrementAndGet();
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e); // the count then rises no more, and the test ends at its timeout
        }
    }

    int count() {
        return count.get();
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        starting.join();
    }
}
