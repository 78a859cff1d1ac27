package dev.lockstep.internal.client;

import org.jspecify.annotations.Nullable;

/** Closes a client when the JVM ends. */
final class ShutdownHook {
    private final Thread thread;

    private ShutdownHook(Thread thread) {
        this.thread = thread;
    }

    /** Null if the JVM is ending already: then the client will not be used. */
    static @Nullable ShutdownHook install(Runnable close, String name) {
        Thread thread = new Thread(close, "lockstep-shutdown-" + name);
        try {
            Runtime.getRuntime().addShutdownHook(thread);
        } catch (IllegalStateException e) {
            return null;
        }
        return new ShutdownHook(thread);
    }

    /** Forgets the client, which has been closed. */
    void remove() {
        try {
            Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException e) {
            // The JVM is ending: the hook runs, or finds that nothing is left to do.
        }
    }
}
