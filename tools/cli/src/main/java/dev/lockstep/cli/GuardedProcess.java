package dev.lockstep.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A command that runs while a lock is held. Safe for use by many threads: the loss of the lock comes on one of its own. */
final class GuardedProcess {
    private final Duration grace;
    private final SignalRelay signals;
    private @Nullable Process process;
    private boolean lost;

    GuardedProcess(Duration grace, SignalRelay signals) {
        this.grace = grace;
        this.signals = signals;
    }

    /** Starts the command with the streams of this process, unless a signal or the loss of the lock came first. */
    synchronized void start(List<String> command, Map<String, String> variables)
            throws IOException, InterruptedException {
        if (!lost) {
            ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
            builder.environment().putAll(variables);
            restoreLocale(builder.environment());
            process = signals.start(builder);
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
        signals.onLost(running);
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

    /** The launcher may set another LC_ALL for Java; it passes that of the caller, which is empty if there was none. */
    private static void restoreLocale(Map<String, String> environment) {
        String original = System.getProperty("lockstep.lc_all");
        if (original != null) {
            environment.put("LC_ALL", original);
            environment.remove("LC_ALL", "");
        }
    }
}
