package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.LeaseGrantRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseRevokeRequest;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Retry;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a client's sessions alive, and opens another when one is needed. Safe for use by many threads. */
final class Sessions {
    /*
     * Overview. A client has one session, and more while its claims need more room than one has. Each is renewed and
     * lost separately.
     *
     * A session ends when its key is gone: the lease has expired or was revoked, or an operator deleted the key. A
     * watch notices that at once, a renewal at the latest, and so does a request with a dead lease. The lease is then
     * revoked, since no key may be attached to it any more.
     *
     * The client tries to open the next one until it succeeds. While etcd answers but refuses it, claims that wait for
     * it fail with that reason: nothing else would report it, since an engine that answers is not an outage.
     *
     * The sessions of a client are renewed at different times, so that they also expire at different times if it dies:
     * etcd serves nobody while it deletes the keys of a lease.
     */
    private static final Logger log = LoggerFactory.getLogger(Sessions.class);

    /** Leases are counted in whole seconds. */
    private static final Duration LEAST_TTL = Duration.ofSeconds(1);

    /** The share of a session's room beyond which the next session is opened in advance. */
    private static final double ALMOST_FULL = 0.75;

    private final BackendContext context;
    private final Scheduler scheduler;
    private final Link link;
    private final Watches watches;
    private final Keys keys;
    private final SessionNumbers numbers;
    private final SessionRenewal renewal;
    private final Runnable whenAnswered;
    private final Consumer<Session> whenRenewed;
    private final long leaseSeconds;
    private final List<Kept> alive = new CopyOnWriteArrayList<>(); // written under this
    private volatile @Nullable Throwable refusal;
    private volatile long grantedSeconds;
    private CompletableFuture<Void> attempt = CompletableFuture.completedFuture(null); // guarded by this, as the next
    private boolean opening;
    private boolean closed;
    private final Phases phases; // guarded by this

    /** A session that is alive as far as is known, with its renewer and its watch. */
    private record Kept(Session session, Renewer<Session> renewer, Watches.Watch watch) {
        void forget() {
            renewer.close();
            watch.cancel();
        }
    }

    /**
     * Makes it.
     *
     * @param whenAnswered runs when there is a session for claims that have none, or the reason why not
     * @param whenRenewed is called at each renewal
     */
    Sessions(
            BackendContext context,
            Link link,
            Watches watches,
            Keys keys,
            Runnable whenAnswered,
            Consumer<Session> whenRenewed) {
        this.context = context;
        this.scheduler = context.scheduler();
        this.link = link;
        this.watches = watches;
        this.keys = keys;
        this.numbers = new SessionNumbers(link, keys);
        this.renewal = new SessionRenewal(link, context.renewalTimeout());
        this.whenAnswered = whenAnswered;
        this.whenRenewed = whenRenewed;
        this.phases = new Phases(context.ttl().toNanos() / 3);
        this.leaseSeconds = context.ttl().plusNanos(999_999_999).toSeconds();
    }

    /** The sessions that live, as far as is known. */
    List<Session> all() {
        return alive.stream().map(Kept::session).toList();
    }

    /** Whether a lease is one of this client's. */
    boolean isOwn(long lease) {
        for (Kept kept : alive) {
            if (kept.session.lease() == lease) {
                return true;
            }
        }
        return false;
    }

    /** Why etcd has refused the session that is missing; null if none is missing, or if the last try was not answered. */
    @Nullable
    Throwable refusal() {
        return refusal;
    }

    /** The smallest ttl that the cluster keeps, according to the last session's lease. */
    Duration minTtl() {
        return grantedSeconds > leaseSeconds ? Duration.ofSeconds(grantedSeconds) : LEAST_TTL;
    }

    /** A place for a claim; null if there is no room until another session was opened, or was refused. */
    @Nullable
    ClaimKey claimKey(ClaimTerms terms) {
        ClaimQueue queue = terms.queue(keys);
        int full = 0;
        for (Kept kept : alive) {
            ClaimKey key = kept.session.claimKey(queue);
            if (key != null) {
                if (full == alive.size() - 1 && kept.session.claims() > ALMOST_FULL * Session.MOST_CLAIMS) {
                    openAnother();
                }
                return key;
            }
            full++;
        }
        openAnother();
        return null;
    }

    // ---------------------------------------------------------------- opening

    /** Opens a session, in one try. */
    CompletableFuture<Session> open() {
        long lease = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
        ByteString value = Keys.bytes("client=" + context.clientName() + "\nid=" + context.clientId() + "\n");
        long sent = scheduler.nanoTime();
        return link.call(
                        Rpc.LEASE_GRANT,
                        LeaseGrantRequest.newBuilder()
                                .setID(lease)
                                .setTTL(leaseSeconds)
                                .build())
                .thenCompose(granted -> {
                    grantedSeconds = granted.getTTL();
                    return numbers.take(value, lease);
                })
                .thenCompose(taken -> {
                    Session session = new Session(
                            lease,
                            taken.number(),
                            keys.session(taken.number()),
                            value,
                            taken.revision(),
                            Renewer.deadline(sent, context.ttl()),
                            this::ended);
                    return begin(session).thenApply(done -> session);
                })
                .whenComplete((session, failure) -> {
                    if (failure != null) {
                        revoke(lease); // it may have been granted all the same
                    }
                });
    }

    /** Uses a session from now on. One that comes too late is ended; done when it is. */
    private CompletableFuture<Void> begin(Session session) {
        Renewer<Session> renewer = new Renewer<>(context, 1, LossReason.SESSION_ENDED, batch -> renew(batch.get(0)));
        long delay;
        synchronized (this) {
            if (closed) {
                return revoke(session.lease());
            }
            delay = delay(session);
            refusal = null;
            alive.add(new Kept(session, renewer, watches.watch(session.key(), watcher(session))));
        }
        if (delay == 0) {
            renewer.register(session);
        } else {
            scheduler.schedule(delay, () -> renewer.register(session));
        }
        return CompletableFuture.completedFuture(null);
    }

    /** How long its renewals wait for their phase; not at all if opening it has taken long already. Called under this. */
    private long delay(Session session) {
        long now = scheduler.nanoTime();
        long delay = phases.delay(alive.isEmpty(), now);
        return session.validUntilNanos() - now - delay < context.ttl().toNanos() / 3 ? 0 : delay;
    }

    private Watches.Watcher watcher(Session session) {
        return new Watches.Watcher() {
            @Override
            public void watching() {
                renewal.check(session);
            }

            @Override
            public void changed(Event event) {
                if (event.getType() == Event.EventType.DELETE) {
                    session.signalLost(LossReason.SESSION_ENDED);
                }
            }
        };
    }

    /** Opens one more session, in as many tries as it takes, unless that is under way. Returns before it starts. */
    private void openAnother() {
        synchronized (this) {
            if (closed || opening) {
                return;
            }
            opening = true;
        }
        Retry retry = Retry.endless(context);
        scheduler.schedule(0, () -> tryToOpen(retry));
    }

    private void tryToOpen(Retry retry) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        synchronized (this) {
            if (closed) {
                return;
            }
            attempt = done;
        }
        open().whenComplete((session, failure) -> {
            if (failure == null) {
                synchronized (this) {
                    opening = false;
                }
                whenAnswered.run();
            } else if (!isClosed()) {
                notOpened(failure);
                retry.later(() -> tryToOpen(retry));
            }
            done.complete(null);
        });
    }

    private void notOpened(Throwable failure) {
        if (Failure.isUnanswered(failure) || Failure.isLeaseGone(failure)) {
            refusal = null;
            return;
        }
        if (refusal == null) {
            log.warn(
                    "{} refuses a session to client {}: {}; trying again",
                    link.settings(),
                    context.clientName(),
                    Failure.status(failure));
        }
        refusal = failure;
        whenAnswered.run();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void ended(Session session) {
        Kept kept;
        boolean none;
        synchronized (this) {
            kept = remove(session);
            if (closed || kept == null) {
                return;
            }
            none = alive.isEmpty();
        }
        log.warn("A session of client {} has ended at {}; its locks are lost", context.clientName(), link.settings());
        kept.forget();
        revoke(session.lease());
        if (none) {
            openAnother();
        } else {
            scheduler.schedule(0, whenAnswered); // others have room for its claims, or another is opened
        }
    }

    private @Nullable Kept remove(Session session) {
        for (Kept kept : alive) {
            if (kept.session == session) {
                alive.remove(kept);
                return kept;
            }
        }
        return null;
    }

    /** Ends a session that nobody uses, if the others have room enough. */
    private boolean retire(Session session) {
        Kept kept;
        synchronized (this) {
            boolean room = alive.stream()
                    .anyMatch(other ->
                            other.session != session && other.session.claims() < ALMOST_FULL * Session.MOST_CLAIMS / 2);
            if (closed || !room || !session.retire()) {
                return false;
            }
            kept = remove(session);
        }
        if (kept != null) {
            kept.forget();
            revoke(session.lease());
        }
        return true;
    }

    private CompletableFuture<List<Session>> renew(Session session) {
        if (retire(session)) {
            return CompletableFuture.completedFuture(List.of());
        }
        watches.probe();
        return renewal.renew(session).whenComplete((gone, failure) -> {
            if (failure == null && gone.isEmpty()) {
                whenRenewed.accept(session);
            }
        });
    }

    /** Ends a lease, in one try: without keepalives it ends by itself. */
    private CompletableFuture<Void> revoke(long lease) {
        return link.call(
                        Rpc.LEASE_REVOKE,
                        LeaseRevokeRequest.newBuilder().setID(lease).build())
                .handle((answer, failure) -> null);
    }

    /** Ends all sessions, and with them all keys that the client has in etcd. */
    CompletableFuture<Void> close() {
        List<Kept> last;
        CompletableFuture<Void> revoked;
        synchronized (this) {
            closed = true;
            last = List.copyOf(alive);
            alive.clear();
            revoked = attempt; // which ends the session that it opens
        }
        // One after the other, since etcd serves nobody while it deletes the keys of a lease.
        for (Kept kept : last) {
            kept.renewer.close();
            revoked = revoked.thenCompose(done -> revoke(kept.session.lease()));
        }
        last.forEach(kept -> kept.session.signalLost(LossReason.CLIENT_CLOSED));
        return revoked;
    }
}
