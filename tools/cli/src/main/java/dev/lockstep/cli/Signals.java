package dev.lockstep.cli;

import java.io.IOException;
import java.util.List;
import java.util.function.ObjIntConsumer;
import sun.misc.Signal;

/** Receives signals and sends them to other processes, where the system has signals. */
final class Signals {
    private Signals() {}

    /**
     * Passes signals to a handler from now on, instead of the JVM's own handling. The handler gets name and number, on
     * a
     * thread of the JVM. A signal that the JVM needs for itself keeps its meaning.
     */
    static void handle(List<String> names, ObjIntConsumer<String> handler) {
        for (String name : names) {
            try {
                Signal.handle(new Signal(name), signal -> handler.accept(signal.getName(), signal.getNumber()));
            } catch (IllegalArgumentException e) {
                // Unknown on this system, or the JVM's own.
            }
        }
    }

    /** Sends a signal; does nothing if the process is gone. */
    static void send(String name, long pid) throws IOException, InterruptedException {
        new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }
}
