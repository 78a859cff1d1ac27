package dev.lockstep.torture;

import dev.lockstep.servers.JavaProcess;
import java.time.Duration;

/** Gives a process little of the processor: it is stopped again and again, and hardly runs in between. */
final class Starvation implements Runnable {
    private static final Duration STOPPED = Duration.ofMillis(100);
    private static final Duration RUNNING = Duration.ofMillis(10);

    private final JavaProcess process;
    private final Thread thread = new Thread(this, "torture-starvation");
    private volatile boolean over;

    private Starvation(JavaProcess process) {
        this.process = process;
    }

    /** Begins; gives what ends it. */
    static Fault.Act of(JavaProcess process) {
        Starvation starvation = new Starvation(process);
        starvation.thread.setDaemon(true);
        starvation.thread.start();
        return starvation::end;
    }

    @Override
    public void run() {
        while (!over) {
            process.pause();
            Parking.forTime(STOPPED);
            process.resume();
            Parking.forTime(RUNNING);
        }
    }

    private void end() throws InterruptedException {
        over = true;
        thread.join();
    }
}
