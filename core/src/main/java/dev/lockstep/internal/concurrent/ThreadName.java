package dev.lockstep.internal.concurrent;

/**
 * A thread as others see it.
 *
 * @param name its name; empty if it has none, as most virtual threads
 * @param id its id; 0 for a text that stands in the place of a thread
 */
public record ThreadName(String name, long id) {
    /** The name of the calling thread. */
    public static ThreadName current() {
        return of(Thread.currentThread());
    }

    public static ThreadName of(Thread thread) {
        return new ThreadName(thread.getName(), thread.getId());
    }

    /** A text that stands in the place of a thread. */
    public static ThreadName ofText(String text) {
        return new ThreadName(text, 0);
    }

    /** The name, and behind a number sign the id. */
    @Override
    public String toString() {
        if (id == 0) {
            return name;
        }
        return name.isEmpty() ? "#" + id : name + " #" + id;
    }
}
