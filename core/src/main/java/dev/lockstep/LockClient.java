package dev.lockstep;

import dev.lockstep.internal.client.Clients;
import dev.lockstep.spi.BackendFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one engine, and the source of all locks on it. A process needs one for each engine; threads share it.
 *
 * <pre>{@code
 * try (LockClient locks = LockClient.connect("memory:")) {
 *     DistributedLock lock = locks.lock("order:42");
 *     lock.lock();
 *     try {
 *         ship(order);
 *     } finally {
 *         lock.unlock();
 *     }
 * }
 * }</pre>
 *
 * <p>Locks are cheap to make and need not be kept: a name that nobody uses costs nothing. A name is any non-empty
 * Unicode string of at most 512 bytes in UTF-8 without control characters; an unusable name is refused with an {@link
 * IllegalArgumentException}. After {@link #close()} every call throws {@link IllegalStateException}, except {@code
 * close} and the methods that say otherwise.
 *
 * <p>Safe for use by many threads.
 */
public interface LockClient extends LockAdmin, AutoCloseable {
    /**
     * Connects with the defaults.
     *
     * @param url the engine, such as {@code memory:}; see {@link Builder#url(String)}
     * @return an open client
     * @throws LockConfigurationException if the URL is malformed, or no engine on the class path has its scheme
     * @throws LockUnavailableException if the engine cannot be reached
     */
    static LockClient connect(String url) {
        return builder().url(url).connect();
    }

    /**
     * Starts to configure a client.
     *
     * @return a builder with the defaults
     */
    static Builder builder() {
        return new Builder();
    }

    /**
     * The lock of a name, with default options. It is {@link #readWriteLock(String) readWriteLock(name)}{@code
     * .writeLock()}.
     *
     * @param name the lock's name
     * @return the lock
     */
    default DistributedLock lock(String name) {
        return lock(name, LockOptions.defaults());
    }

    /**
     * The lock of a name.
     *
     * @param name the lock's name
     * @param options how it behaves
     * @return the lock
     * @throws LockConfigurationException if the engine cannot do what the options ask
     */
    DistributedLock lock(String name, LockOptions options);

    /**
     * The read-write lock of a name, with default options.
     *
     * @param name the lock's name
     * @return the lock
     * @throws LockConfigurationException if the engine has no shared locks
     */
    default DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, LockOptions.defaults());
    }

    /**
     * The read-write lock of a name.
     *
     * @param name the lock's name
     * @param options how it behaves
     * @return the lock
     * @throws LockConfigurationException if the engine has no shared locks, or cannot do what the options ask
     */
    DistributedReadWriteLock readWriteLock(String name, LockOptions options);

    /**
     * Several locks as one, with default options: all are taken, or none. Callers that name the same locks in another
     * order do not deadlock each other. A wait time is spent once, not once for each lock.
     *
     * @param names the names of the locks; at least one, none twice
     * @return the locks as one
     */
    default DistributedLock multiLock(String... names) {
        return multiLock(List.of(names), LockOptions.defaults());
    }

    /**
     * Several locks as one: all are taken, or none. They are taken in the order of their names, not in the order given
     * here, so that two calls never wait for each other. If the engine supports it, the free locks at the front are
     * taken with few requests; thousands of names are fine.
     *
     * @param names the names of the locks; at least one, none twice
     * @param options how each of them behaves
     * @return the locks as one
     * @throws LockConfigurationException if the engine cannot do what the options ask
     */
    DistributedLock multiLock(Collection<String> names, LockOptions options);

    /**
     * The semaphore of a name, with default options.
     *
     * @param name the semaphore's name; a name is a lock or a semaphore, never both
     * @param permits how many permits there are; positive, and the same for all users of the name
     * @return the semaphore
     * @throws IllegalArgumentException if the name is unusable, or {@code permits} is not positive
     * @throws LockConfigurationException if the engine has no semaphores
     */
    default DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, LockOptions.defaults());
    }

    /**
     * The semaphore of a name.
     *
     * @param name the semaphore's name; a name is a lock or a semaphore, never both
     * @param permits how many permits there are; positive, and the same for all users of the name
     * @param options how it behaves: {@link LockOptions#fair()} and {@link LockOptions#maxHold(Duration)} mean what they mean
     *     for locks. Permits are never reentrant, and are not handed off, whatever the options say
     * @return the semaphore
     * @throws IllegalArgumentException if the name is unusable, or {@code permits} is not positive
     * @throws LockConfigurationException if the engine has no semaphores, if the options are sticky or have a minimum time, or
     *     if this client has a {@link Fallback}
     */
    DistributedSemaphore semaphore(String name, int permits, LockOptions options);

    /**
     * A template that acquires a lock, runs work and releases the lock, with default options.
     *
     * @return the template
     */
    default LockTemplate template() {
        return template(LockOptions.defaults());
    }

    /**
     * A template that acquires a lock, runs work and releases the lock.
     *
     * @param options how its locks behave
     * @return the template
     */
    LockTemplate template(LockOptions options);

    /**
     * Makes a candidate without a payload; see {@link #election(String, String, LeaderTask)}.
     *
     * @param name the election's name, which is the name of its lock
     * @param task what to do while it leads
     * @return the candidate, which stands until it is closed
     */
    default LeaderElection election(String name, LeaderTask task) {
        return election(name, "", task);
    }

    /**
     * Makes a candidate of an election, which stands from now on. A client has at most one candidate for a name;
     * another one can stand when the first is closed and its task has returned.
     *
     * @param name the election's name, which is the name of its lock
     * @param payload what others see of this candidate while it leads, such as its address; see {@link
     *     #leader(String)}. At most 100 bytes in UTF-8 without control characters and line breaks; may be empty. Every
     *     user of the engine can read it
     * @param task what to do while it leads
     * @return the candidate, which stands until it is closed
     * @throws IllegalArgumentException if the name or the payload is unusable
     * @throws IllegalStateException if this client has a candidate of that name
     * @throws LockConfigurationException if this client has a {@link Fallback}: it could make a second leader
     */
    LeaderElection election(String name, String payload, LeaderTask task);

    /**
     * Asks the engine who leads. Needs no candidate.
     *
     * @param election the election's name
     * @return the leader, or empty if nobody leads
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    Optional<Leader> leader(String election);

    /**
     * Asks the engine for its namespaces: all in which a lock is held or waited for, and perhaps others that were used
     * recently or whose clients have no locks.
     *
     * @return the namespaces, in order; none if the engine cannot list them
     * @throws LockConfigurationException if this client is not allowed to read other namespaces
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    List<String> namespaces();

    /**
     * Lets operators inspect and release the locks of another namespace of this engine.
     *
     * @param namespace the namespace
     * @return its locks, over this client's connection; its calls throw {@link LockConfigurationException} if the engine
     *     cannot list namespaces
     */
    LockAdmin admin(String namespace);

    /**
     * Asks the engine what it is and how it is set up. While a fallback is in use, this asks the fallback's engine.
     *
     * @return product, version and what locks on it promise
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    EngineInfo describe();

    /**
     * Checks whether the engine responds, as a health check does. While a fallback is in use, this checks the
     * fallback's engine.
     *
     * @return how long the answer took
     * @throws LockUnavailableException if the engine did not answer within the request timeout, or cannot grant locks
     */
    Duration ping();

    /**
     * Returns whether {@link #close()} was called. May be asked of a closed client.
     *
     * @return true if it was
     */
    boolean isClosed();

    /**
     * Returns whether new claims go to the client's {@link Fallback} now. No I/O; may be asked of a closed client.
     *
     * @return true while they do; always false without a fallback
     */
    boolean inFallback();

    /**
     * Shows what this client holds and waits for. No I/O; may be asked of a closed client.
     *
     * @return its holds and waiters
     */
    ClientSnapshot snapshot();

    /**
     * The name under which others see this client.
     *
     * @return the client's name
     */
    String name();

    /**
     * Releases all locks of the client, gives up all calls that wait, and disconnects. If the engine does not answer, this
     * takes two request timeouts at most: one for the releases, and one to end the client's session. Holds end with
     * {@link LossReason#CLIENT_CLOSED}; waiting calls fail with {@link LockUnavailableException}. Closing it again does
     * nothing.
     */
    @Override
    void close();

    /** Configures a client: which engine it connects to, under which names. Not safe for use by several threads. */
    final class Builder extends ClientSettings {
        private @Nullable String url;
        private @Nullable BackendFactory backend;
        private String namespace = "lockstep";
        private @Nullable String clientName;

        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /**
         * Chooses the engine by URL. The scheme selects the engine; the engine's jar must be on the class path.
         *
         * @param url such as {@code memory:}, {@code redis://localhost:6379} or {@code jdbc:sqlite:locks.db}
         * @return this
         */
        public Builder url(String url) {
            this.url = Objects.requireNonNull(url, "url");
            return this;
        }

        /**
         * Chooses the engine by an object, for settings that a URL cannot express. Use it instead of a URL.
         *
         * @param backend makes the backend
         * @return this
         */
        public Builder backend(BackendFactory backend) {
            this.backend = Objects.requireNonNull(backend, "backend");
            return this;
        }

        /**
         * Separates the locks of one application from those of others on the same engine.
         *
         * @param namespace a name by the rules of lock names, of at most 64 bytes; {@code lockstep} unless set
         * @return this
         */
        public Builder namespace(String namespace) {
            this.namespace = Clients.requireNamespace(namespace);
            return this;
        }

        /**
         * The name under which others see this client, in {@link HolderInfo}. It need not be unique.
         *
         * @param clientName a name by the rules of lock names; host and process id unless set
         * @return this
         */
        public Builder clientName(String clientName) {
            this.clientName = Clients.requireName(clientName, "clientName");
            return this;
        }

        /**
         * Connects.
         *
         * @return an open client
         * @throws LockConfigurationException if neither or both of URL and backend are set, a URL is malformed, no
         *     engine on the class path has its scheme, the ttl is below the engine's minimum, or the engine is set as
         *     its own fallback
         * @throws LockUnavailableException if the engine or the fallback's engine cannot be reached; with {@link
         *     #lazyConnect()}, only for the fallback's engine
         */
        public LockClient connect() {
            return Clients.connect(
                    url,
                    backend,
                    fallback,
                    new Clients.Settings(
                            namespace,
                            ttl,
                            requestTimeout,
                            minBackoff,
                            maxBackoff,
                            clientName,
                            executor,
                            List.copyOf(listeners),
                            List.copyOf(observers),
                            lazyConnect,
                            new Clients.Care(
                                    timedCallsFailFast,
                                    releaseOnShutdown,
                                    releaseAbandoned,
                                    longHold,
                                    recordWaitsAfter,
                                    deadlocks)));
        }
    }
}
