package dev.lockstep.cli;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The signals that this process receives. While a command runs, they are passed on to it; otherwise one ends the wait for
 * the lock by an interrupt. One relay serves all commands of a process, so no signal is missed between two of them.
 *
 * <p>Safe for use by many threads: signals come on threads of their own.
 */
final class SignalRelay {
    private static final List<String> PASSED_ON = List.of("INT", "TERM", "HUP", "USR1", "USR2");

    /** They ask this process to end if its command is being ended already. */
    private static final Set<String> ENDING = Set.of("INT", "TERM", "HUP");

    private final Thread waiting;
    private @Nullable Process command;

    /** Whether the command was sent TERM because the lock is lost. */
    private boolean lost;

    private int endedBy;

    /** Makes a relay for a thread that waits; it receives nothing yet. */
    SignalRelay(Thread waiting) {
        this.waiting = waiting;
    }

    /** Receives the signals of this process from now on. */
    void install() {
        Signals.handle(PASSED_ON, this::onSignal);
    }

    /** Passes a signal on, except for a terminal's interrupt: the terminal sends it to the command as well. */
    void onSignal(String name, int number) {
        Process running;
        synchronized (this) {
            running = command;
            if (running == null || !running.isAlive()) {
                endedBy = number;
                waiting.interrupt();
                return;
            }
            // A command may continue after HUP or INT; after TERM, it is not expected to.
            if (name.equals("TERM") || (lost && ENDING.contains(name))) {
                endedBy = number;
            }
        }
        if (!(name.equals("INT") && Terminal.isInteractive())) {
            send(name, running);
        }
    }

    /** The number of the signal that asked this process to end, or 0. */
    synchronized int endedBy() {
        return endedBy;
    }

    /** Starts a command, to which signals are passed on, unless one has asked this process to end. */
    synchronized Process start(ProcessBuilder builder) throws IOException, InterruptedException {
        if (endedBy != 0) {
            throw new InterruptedException();
        }
        lost = false;
        command = builder.start();
        return command;
    }

    /** The lock is lost: the command gets TERM. */
    synchronized void onLost(Process ending) {
        lost |= ending.equals(command);
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
