package dev.lockstep.internal.concurrent;

/** What others see of a thread. */
public final class ThreadNames {
    private ThreadNames() {}

    /** The name of the calling thread; a number sign and its id if it has no name, as most virtual threads. */
    public static String current() {
        Thread thread = Thread.currentThread();
        String name = thread.getName();
        return name.isEmpty() ? "#" + thread.getId() : name;
    }
}
