package dev.lockstep.spi;

import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The services and settings that a backend needs from its client. Immutable; the core makes it, and later versions may
 * add to it. Safe for use by many threads.
 */
public final class BackendContext {
    private final String namespace;
    private final String clientName;
    private final String clientId;
    private final Duration ttl;
    private final Duration requestTimeout;
    private final Backoff retryBackoff;
    private final Executor executor;
    private final Scheduler scheduler;
    private final RequestObserver requests;

    private BackendContext(
            String namespace,
            String clientName,
            String clientId,
            Duration ttl,
            Duration requestTimeout,
            Backoff retryBackoff,
            Executor executor,
            Scheduler scheduler,
            RequestObserver requests) {
        this.namespace = Objects.requireNonNull(namespace, "namespace");
        this.clientName = Objects.requireNonNull(clientName, "clientName");
        this.clientId = Objects.requireNonNull(clientId, "clientId");
        this.ttl = Objects.requireNonNull(ttl, "ttl");
        this.requestTimeout = Objects.requireNonNull(requestTimeout, "requestTimeout");
        this.retryBackoff = Objects.requireNonNull(retryBackoff, "retryBackoff");
        this.executor = Objects.requireNonNull(executor, "executor");
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        this.requests = Objects.requireNonNull(requests, "requests");
    }

    /**
     * Makes one without a request observer.
     *
     * @param namespace see {@link #namespace()}
     * @param clientName see {@link #clientName()}
     * @param clientId see {@link #clientId()}
     * @param ttl see {@link #ttl()}
     * @param requestTimeout see {@link #requestTimeout()}
     * @param retryBackoff see {@link #retryBackoff()}
     * @param executor see {@link #executor()}
     * @param scheduler see {@link #scheduler()}
     * @return the context
     */
    public static BackendContext of(
            String namespace,
            String clientName,
            String clientId,
            Duration ttl,
            Duration requestTimeout,
            Backoff retryBackoff,
            Executor executor,
            Scheduler scheduler) {
        return new BackendContext(
                namespace,
                clientName,
                clientId,
                ttl,
                requestTimeout,
                retryBackoff,
                executor,
                scheduler,
                RequestObserver.NONE);
    }

    /**
     * Changes the ttl.
     *
     * @param other see {@link #ttl()}
     * @return a copy with that ttl
     */
    public BackendContext withTtl(Duration other) {
        return new BackendContext(
                namespace, clientName, clientId, other, requestTimeout, retryBackoff, executor, scheduler, requests);
    }

    /**
     * Changes the scheduler.
     *
     * @param other see {@link #scheduler()}
     * @return a copy with that scheduler
     */
    public BackendContext withScheduler(Scheduler other) {
        return new BackendContext(
                namespace, clientName, clientId, ttl, requestTimeout, retryBackoff, executor, other, requests);
    }

    /**
     * Changes the observer of requests.
     *
     * @param other see {@link #requests()}
     * @return a copy with that observer
     */
    public BackendContext withRequests(RequestObserver other) {
        return new BackendContext(
                namespace, clientName, clientId, ttl, requestTimeout, retryBackoff, executor, scheduler, other);
    }

    /**
     * Separates applications on one engine.
     *
     * @return any name of at most 64 bytes, to be encoded as lock names are
     */
    public String namespace() {
        return namespace;
    }

    /**
     * Names the client, for people.
     *
     * @return the client's name
     */
    public String clientName() {
        return clientName;
    }

    /**
     * Identifies the client; claim ids begin with it.
     *
     * @return the client's unique id, 22 characters of {@code [A-Za-z0-9_-]}
     */
    public String clientId() {
        return clientId;
    }

    /**
     * Returns how long a lock outlives a dead client.
     *
     * @return the ttl
     */
    public Duration ttl() {
        return ttl;
    }

    /**
     * Returns how long one request may take.
     *
     * @return the time
     */
    public Duration requestTimeout() {
        return requestTimeout;
    }

    /**
     * Returns how long to wait between tries of a failed request.
     *
     * @return the backoff
     */
    public Backoff retryBackoff() {
        return retryBackoff;
    }

    /**
     * Runs users' code, which must never run on an engine's event thread. A backend has its own small executor for
     * blocking I/O of calls without {@code blockAtMost}.
     *
     * @return the executor
     */
    public Executor executor() {
        return executor;
    }

    /**
     * Provides the time, and runs timers whose tasks never block.
     *
     * @return the scheduler
     */
    public Scheduler scheduler() {
        return scheduler;
    }

    /**
     * Observes the backend's requests.
     *
     * @return the observer; {@link RequestObserver#NONE} if there is none
     */
    public RequestObserver requests() {
        return requests;
    }

    /**
     * How long one try of a renewal may take: the request timeout, but a third of the ttl at most. If a connection has
     * become silent, this leaves time for a try on another one.
     *
     * @return the time
     */
    public Duration renewalTimeout() {
        Duration third = ttl.dividedBy(3);
        return requestTimeout.compareTo(third) < 0 ? requestTimeout : third;
    }

    /**
     * The deadline of a request that is sent now.
     *
     * @return by {@link Scheduler#nanoTime()}: the request timeout from now
     */
    public long requestDeadlineNanos() {
        return scheduler.nanoTime() + requestTimeout.toNanos();
    }

    /**
     * The failure of a call that has no answer when the client is closed.
     *
     * @param lockName the lock; null if the call is about none
     * @return the failure
     */
    public LockUnavailableException closedFailure(@Nullable String lockName) {
        String subject = lockName == null ? "Client " : "Lock '" + lockName + "': client ";
        return new LockUnavailableException(lockName, subject + clientName + " was closed.");
    }
}
