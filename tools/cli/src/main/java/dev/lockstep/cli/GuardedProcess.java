package dev.lockstep.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A command that runs while a lock is held, and the signals around it. While it does not run, a signal ends the wait for the
 * lock by an interrupt; while it does, signals are passed on to it.
 *
 * <p>Safe for use by many threads: signals and the loss of the lock come on threads of their own.
 */
final class GuardedProcess {
    private static final List<String> PASSED_ON = List.of("INT", "TERM", "HUP", "USR1", "USR2");

    private final Thread waiting;
    private final Duration grace;
    private @Nullable Process process;
    private int endedBy;
    private boolean lost;

    /** Creates one whose waiting thread is the calling thread. */
    GuardedProcess(Duration grace) {
        this(grace, Thread.currentThread());
    }

    /** Creates one for a thread that waits while another one runs the command. */
    GuardedProcess(Duration grace, Thread waiting) {
        this.grace = grace;
        this.waiting = waiting;
        Signals.handle(PASSED_ON, this::onSignal);
    }

    /** Passes a signal on, except for a terminal's interrupt: the terminal sends it to the command as well. */
    private void onSignal(String name, int number) {
        Process running;
        synchronized (this) {
            running = process;
            if (running == null || !running.isAlive()) {
                endedBy = number;
                waiting.interrupt();
                return;
            }
        }
        if (!(name.equals("INT") && Terminal.isInteractive())) {
            send(name, running);
        }
    }

    /** The number of the signal that came while the command did not run, or 0. */
    synchronized int endedBy() {
        return endedBy;
    }

    /** Starts the command with the streams of this process, unless a signal or the loss of the lock came first. */
    synchronized void start(List<String> command, Map<String, String> variables)
            throws IOException, InterruptedException {
        if (endedBy != 0) {
            throw new InterruptedException();
        }
        if (!lost) {
            ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
            builder.environment().putAll(variables);
            process = builder.start();
        }
    }

    /** Waits for the command to end, and returns its exit code. */
    int await() throws InterruptedException {
        Process running;
        synchronized (this) {
            running = process;
        }
        return running == null ? ExitCodes.LOST : running.waitFor();
    }

    /** Sends TERM to the command because the lock is lost; the command may clean up for a time, then it is killed. */
    void onLost() {
        Process running;
        synchronized (this) {
            lost = true;
            running = process;
        }
        if (running == null) {
            return;
        }
        running.destroy();
        try {
            if (!running.waitFor(grace.toNanos(), TimeUnit.NANOSECONDS)) {
                running.destroyForcibly();
            }
        } catch (InterruptedException e) {
            running.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private static void send(String name, Process running) {
        try {
            Signals.send(name, running.pid());
        } catch (IOException e) {
            running.destroy();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
