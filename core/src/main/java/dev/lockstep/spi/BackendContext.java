package dev.lockstep.spi;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * What a backend needs of its client.
 *
 * @param namespace separates applications on one engine; any name of at most 64 bytes, to be encoded as lock names are
 * @param clientName the client's name, for people
 * @param clientId the client's unique id, 22 characters of {@code [A-Za-z0-9_-]}; claim ids begin with it
 * @param ttl how long a lock outlives a dead client
 * @param requestTimeout how long one request may take
 * @param retryBackoff how long to wait between tries of a failed request
 * @param executor where users' code runs; never block an engine's event thread instead. A backend's own blocking I/O
 *     for calls without {@code blockAtMost} has its own small executor
 * @param scheduler time, and timers whose tasks never block
 */
public record BackendContext(
        String namespace,
        String clientName,
        String clientId,
        Duration ttl,
        Duration requestTimeout,
        Backoff retryBackoff,
        Executor executor,
        Scheduler scheduler) {
    /**
     * How long one try of a renewal may take: the request timeout, but a third of the ttl at most. A connection that has
     * fallen silent then leaves time for another one.
     *
     * @return the time
     */
    public Duration renewalTimeout() {
        Duration third = ttl.dividedBy(3);
        return requestTimeout.compareTo(third) < 0 ? requestTimeout : third;
    }
}
