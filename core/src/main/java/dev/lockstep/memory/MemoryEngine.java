package dev.lockstep.memory;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Durations;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine inside the JVM, for one client or several. The URLs {@code memory:} (a new engine for each client) and
 * {@code memory:NAME} (one for all clients of the JVM that use the name, freed when the last of them closes) need none
 * of this class. A test that wants to simulate faults makes an engine itself:
 *
 * <pre>{@code
 * MemoryEngine engine = new MemoryEngine();
 * try (LockClient one = LockClient.builder().backend(engine).clientName("one").connect();
 *      LockClient two = LockClient.builder().backend(engine).clientName("two").connect()) {
 *     engine.disconnect("one", MemoryEngine.Outage.REQUESTS_LOST);
 *     …
 *     engine.reconnect("one");
 * }
 * }</pre>
 *
 * <p>The engine keeps a session for each client, of the client's ttl, which the client renews every third of it. A
 * session that was not renewed for its ttl is ended, with all that it holds and waits for; a client that still lives
 * then opens another and queues again. Claims are granted in order of arrival. Tokens rise over all engines of the JVM.
 *
 * <p>Faults are switched on and off by the methods below, for the open clients of a name or id, or for all clients,
 * including future ones. All clients of an engine must read the same clock, as they do unless a test injects its own.
 *
 * <p>Safe for use by many threads.
 */
public final class MemoryEngine implements BackendFactory {
    private final Map<String, LockTable> tables = new ConcurrentHashMap<>();
    private final Sessions sessions = new Sessions();
    private final Map<MemoryBackend, Runnable> clients = new LinkedHashMap<>(); // guarded by this, with what close runs
    private long delayNanos; // guarded by this
    private @Nullable Outage outage; // guarded by this

    /** The messages that are lost while the engine cannot be reached. In either case the client gets no answer. */
    public enum Outage {
        /** Requests: the engine does not see them until the outage is over. */
        REQUESTS_LOST,

        /** Replies and pushes: the engine does what it is asked, but the client gets no reply. */
        REPLIES_LOST
    }

    /** Makes an engine without clients. */
    public MemoryEngine() {}

    /**
     * Connects a client.
     *
     * @param context what the backend needs from its client
     * @return a backend that the client owns and closes
     * @throws LockUnavailableException if an outage of the whole engine is simulated
     */
    @Override
    public LockBackend open(BackendContext context) {
        return open(context, () -> {});
    }

    @Override
    public String engine() {
        return "memory";
    }

    LockBackend open(BackendContext context, Runnable afterClose) {
        LockTable table = tables.computeIfAbsent(context.namespace(), namespace -> new LockTable());
        MemoryBackend backend = new MemoryBackend(this, table, context);
        synchronized (this) {
            if (outage != null) {
                throw new LockUnavailableException(null, "The memory engine is unreachable: an outage is simulated.");
            }
            backend.link().delay(delayNanos);
            clients.put(backend, afterClose);
        }
        sessions.attach(backend);
        backend.open();
        return backend;
    }

    /** The locks of a namespace; those of one that nobody has used yet are not kept. */
    LockTable table(String namespace) {
        LockTable known = tables.get(namespace);
        return known == null ? new LockTable() : known;
    }

    /** The namespaces with locks that are held or waited for. */
    List<String> namespaces() {
        return tables.entrySet().stream()
                .filter(table -> table.getValue().size() > 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    Sessions sessions() {
        return sessions;
    }

    void closed(MemoryBackend backend) {
        Runnable afterClose;
        synchronized (this) {
            afterClose = clients.remove(backend);
        }
        sessions.detach(backend);
        if (afterClose != null) {
            afterClose.run();
        }
    }

    /**
     * Makes the engine slow: it does at once what it is asked, but its replies and pushes to all clients take a time.
     *
     * @param delay how long; zero to end the fault
     */
    public void delayReplies(Duration delay) {
        synchronized (this) {
            delayNanos = Durations.waitNanos(delay);
        }
        clients().forEach(backend -> backend.link().delay(Durations.waitNanos(delay)));
    }

    /**
     * Makes the engine slow for one client.
     *
     * @param client the client's name or id
     * @param delay how long; zero to end the fault
     * @throws IllegalArgumentException if no such client is open
     */
    public void delayReplies(String client, Duration delay) {
        forEach(client, backend -> backend.link().delay(Durations.waitNanos(delay)));
    }

    /**
     * Makes the engine unreachable for all clients until {@link #reconnect()}. New ones cannot connect.
     *
     * @param kind what is lost
     */
    public void disconnect(Outage kind) {
        synchronized (this) {
            outage = kind;
        }
        clients().forEach(backend -> backend.link().disconnect(kind));
    }

    /**
     * Makes the engine unreachable for one client until {@link #reconnect()}.
     *
     * @param client the client's name or id
     * @param kind what is lost
     * @throws IllegalArgumentException if no such client is open
     */
    public void disconnect(String client, Outage kind) {
        forEach(client, backend -> backend.link().disconnect(kind));
    }

    /** Ends the outage of all clients. They repeat the requests that are still pending, and get the answers. */
    public void reconnect() {
        synchronized (this) {
            outage = null;
        }
        clients().forEach(MemoryBackend::reconnect);
    }

    /**
     * Ends the outage of one client.
     *
     * @param client the client's name or id
     * @throws IllegalArgumentException if no such client is open
     */
    public void reconnect(String client) {
        forEach(client, MemoryBackend::reconnect);
    }

    /**
     * Ends the session of a client as if its ttl had passed, with all that it holds and waits for. If the client is
     * connected, it is notified before another client gets its locks; if not, it considers them valid until its own
     * deadline.
     *
     * @param client the client's name or id
     * @throws IllegalArgumentException if no such client is open
     */
    public void expireSession(String client) {
        forEach(client, backend -> sessions.end(backend.session(), LossReason.SESSION_ENDED));
    }

    /**
     * Ends every grant of a lock, in every namespace, as an operator would. Waiters stay and are served.
     *
     * @param lockName the lock's name
     * @return false if nobody held it
     */
    public boolean revoke(String lockName) {
        boolean any = false;
        for (LockTable table : tables.values()) {
            any |= table.end(lockName, holder -> true, LossReason.REVOKED);
        }
        return any;
    }

    /**
     * Counts the locks that take memory: those that are held or waited for.
     *
     * @return how many
     */
    public int lockCount() {
        return tables.values().stream().mapToInt(LockTable::size).sum();
    }

    /**
     * Counts the sessions that have not ended: those of open clients, and those of clients that closed in an outage.
     *
     * @return how many
     */
    public int sessionCount() {
        return sessions.count();
    }

    /** Whether it has no clients, and no lock that stays held for the rest of a minimum time. */
    synchronized boolean isUnused() {
        return clients.isEmpty() && sessions.count() == 0;
    }

    private synchronized List<MemoryBackend> clients() {
        return new ArrayList<>(clients.keySet());
    }

    private void forEach(String client, Consumer<MemoryBackend> action) {
        List<MemoryBackend> named = clients();
        named.removeIf(backend ->
                !backend.clientName().equals(client) && !backend.clientId().equals(client));
        if (named.isEmpty()) {
            throw new IllegalArgumentException("No client of this name or id is open: " + client);
        }
        named.forEach(action);
    }
}
