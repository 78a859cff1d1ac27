package dev.lockstep.spi;

import java.time.Duration;

/** Makes backend contexts for tests: a ttl of 30 s, a request timeout of 5 s, and users' code in the calling thread. */
public final class Contexts {
    /** The ttl of these contexts. */
    public static final Duration TTL = Duration.ofSeconds(30);

    /** The request timeout of these contexts. */
    public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    private Contexts() {}

    /**
     * Makes a context.
     *
     * @param clientName the client's name, of 22 characters at most
     * @param scheduler its clock
     * @return the context
     */
    public static BackendContext of(String clientName, Scheduler scheduler) {
        return BackendContext.of(
                "lockstep",
                clientName,
                (clientName + "______________________").substring(0, 22),
                TTL,
                REQUEST_TIMEOUT,
                new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1)),
                Runnable::run,
                scheduler);
    }
}
