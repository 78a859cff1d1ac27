package dev.lockstep.jdbc;

import dev.lockstep.EngineInfo;
import dev.lockstep.HolderInfo;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AbstractBackend;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.Answers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Traits;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One client's side of the tables. Safe for use by many threads. */
final class JdbcBackend extends AbstractBackend {
    private static final Logger log = LoggerFactory.getLogger(JdbcBackend.class);
    private static final Duration MIN_TTL = Duration.ofMillis(200);

    private final Dialect dialect;
    private final Connections connections;
    private final Store store;
    private final Keys keys;
    private final Traits traits;
    private final @Nullable PostgresListener listener;
    private final Requests requests;
    private final Waiters waiters = new Waiters(this);
    private final Reconciler reconciler = new Reconciler(this);
    private final Map<String, JdbcClaim> claims = new ConcurrentHashMap<>();
    private final Map<String, JdbcGrant> grants = new ConcurrentHashMap<>();
    private final Set<Release> pending = ConcurrentHashMap.newKeySet();
    private final Sessions sessions;
    private final Cleaner cleaner;
    private volatile boolean closed;

    JdbcBackend(
            BackendContext context,
            Dialect dialect,
            Connections connections,
            Store store,
            @Nullable PostgresListener listener,
            Settings settings)
            throws SQLException {
        super(context);
        this.dialect = dialect;
        this.connections = connections;
        this.store = store;
        this.listener = listener;
        this.keys = new Keys(context.namespace());
        boolean pushed = listener != null;
        this.traits = Traits.of(MIN_TTL)
                .withPush(pushed)
                .withReportsWanted(pushed)
                .withShared(true)
                .withFair(true)
                .withLimits(true);
        this.requests = new Requests(context, dialect, connections, settings.poolSize(dialect));
        this.sessions = new Sessions(this, context, who(context));
        this.cleaner = new Cleaner(this, context, settings.idleNames());
        if (listener != null) {
            listener.listen(this);
        }
    }

    private static HolderInfo who(BackendContext context) {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            host = "unknown";
        }
        return HolderInfo.of(context.clientName(), host, ProcessHandle.current().pid());
    }

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public String address() {
        String hosts = connections.database().hosts();
        return hosts == null ? "" : hosts;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        JdbcClaim claim = new JdbcClaim(
                this,
                request,
                Ask.of(request, keys.key(request.name()), context().clientId()));
        claims.put(request.claimId(), claim);
        claim.start();
        if (closed) {
            claim.fail();
        }
        return claim;
    }

    // ---------------------------------------------------------------- what claims, grants and sessions share

    Logger log() {
        return log;
    }

    String clientId() {
        return context().clientId();
    }

    Requests requests() {
        return requests;
    }

    Store store() {
        return store;
    }

    Sessions sessions() {
        return sessions;
    }

    Waiters waiters() {
        return waiters;
    }

    Reconciler reconciler() {
        return reconciler;
    }

    /** Whether the database wakes waiters by push at this moment. */
    boolean isPushed() {
        return listener != null && listener.isUp();
    }

    boolean isClosed() {
        return closed;
    }

    void register(JdbcGrant grant) {
        grants.put(grant.claimId(), grant);
        if (grant.session().isEnded()) {
            // The end of the session may have overlooked it.
            grant.signalLost(LossReason.SESSION_ENDED);
        }
    }

    void forget(JdbcGrant grant) {
        grants.remove(grant.claimId(), grant);
    }

    /**
     * Whether a claim holds or waits, or is about to begin or end either. The order matters: see {@link Reconciler}.
     */
    boolean isKnown(String claimId) {
        return claims.containsKey(claimId) || grants.containsKey(claimId) || reconciler.isLeaving(claimId);
    }

    boolean isOut(JdbcGrant grant) {
        return grants.get(grant.claimId()) == grant;
    }

    Set<JdbcGrant> grantsOf(Session session) {
        Set<JdbcGrant> found = new HashSet<>();
        grants.values().forEach(grant -> {
            if (grant.session() == session) {
                found.add(grant);
            }
        });
        return found;
    }

    /** A release or withdrawal that has to be answered, at the latest with the end of the session. */
    void register(Release request) {
        pending.add(request);
    }

    void forget(Release request) {
        pending.remove(request);
    }

    void forget(JdbcClaim claim) {
        claims.remove(claim.ask().claim(), claim);
    }

    /** There is a session again: claims without an answer ask again in it. */
    void resumeClaims() {
        claims.values().forEach(JdbcClaim::tryAgain);
    }

    /** The database has sent a message about a claim. */
    void received(Push.Message message, String claimId) {
        JdbcClaim claim = claims.get(claimId);
        JdbcGrant grant = grants.get(claimId);
        switch (message) {
            case HINT -> {
                if (claim != null) {
                    claim.tryAgain();
                }
            }
            case WANTED -> {
                if (grant != null) {
                    grant.signalWanted();
                }
            }
            case REVOKED -> {
                if (grant != null) {
                    grant.signalLost(LossReason.REVOKED);
                }
            }
        }
    }

    /**
     * A claim was withdrawn or released after a request for it had not been answered. The request may be carried out
     * later, so the withdrawal is repeated.
     */
    void suspect(Ask ask) {
        for (long delay : new long[] {requests.requestTimeoutNanos(), requests.ttlNanos()}) {
            requests.later(
                    delay,
                    () -> requests.run(
                            DO_NOT_BLOCK,
                            () -> {
                                try {
                                    requests.call(link -> store.queue().leave(link, ask.key(), ask.claim()));
                                } catch (SQLException | RuntimeException e) {
                                    log.debug("A repeated withdrawal failed", e);
                                }
                            },
                            () -> {}));
        }
    }

    // ---------------------------------------------------------------- operators

    @Override
    public long lastContactNanos() {
        return connections.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return requests.ask(
                        null,
                        "ping",
                        link -> store.ping(link, sessions.current().id()))
                .thenAccept(changed -> {});
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new JdbcAdmin(requests, store, new Keys(namespace));
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return requests.ask(null, "list namespaces", store::namespaces);
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return requests.ask(
                null,
                "describe",
                link -> Description.of(link, dialect, context().ttl(), traits.push()));
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        cleaner.close();
        sessions.close();
        if (listener != null) {
            listener.close();
        }
        boolean ended = endSession();
        requests.close();
        if (ended) {
            pending.forEach(Release::endedWithSession);
        }
        claims.values().forEach(JdbcClaim::fail);
        grants.values().forEach(grant -> grant.signalLost(LossReason.CLIENT_CLOSED));
        connections.close();
    }

    /**
     * Ends the session, and with it all rows that are left of this client; if the database is away, they expire.
     *
     * @return whether the database has confirmed it
     */
    private boolean endSession() {
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        requests.keep(() -> {
            try {
                // Looked at here, since one may just have been opened in the place of another.
                String id = sessions.current().id();
                requests.callForSession(link -> store.endSession(link, id));
                ended.complete(true);
            } catch (SQLException | RuntimeException e) {
                log.debug("The session could not be ended; it expires", e);
                ended.complete(false);
            }
        });
        Answers.await(ended, context().requestTimeout());
        return ended.getNow(false);
    }
}
