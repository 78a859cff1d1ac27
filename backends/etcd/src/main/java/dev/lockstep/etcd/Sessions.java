package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.LeaseGrantRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseKeepAliveRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseKeepAliveResponse;
import dev.lockstep.etcd.proto.Etcd.LeaseRevokeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a client's session alive, and opens another when it has ended. Safe for use by many threads. */
final class Sessions {
    /*
     * Overview. A renewal is a keepalive and then a read of the session's key, which must be answered in the same raft
     * term. A keepalive alone proves little: a leader that was stopped, or whose disk stood still, answers keepalives
     * before it learns that there is another leader, at which the lease goes on to expire. The read is confirmed by a
     * majority; and since the member that passed the keepalive on was in the same term before, it passed it to that
     * term's leader. The deadline counts from before the keepalive was sent.
     *
     * Keepalives need no rights, and reads do. Once etcd has refused the read, it must succeed before the next keepalive is
     * sent: otherwise the lease, and every lock on it, would live as long as a process that can neither hold nor release.
     *
     * The session ends when its key is gone: the lease has expired or was revoked, or somebody deleted the key. A watch
     * tells so at once, a renewal does at the latest, and a request with a dead lease does too. What is left of its
     * lease is then revoked, since nothing may hang on it any more.
     *
     * The next one is tried for until it is there. As long as etcd refuses it, though it answers, whoever waits for it is
     * told so: nothing else would, since an engine that answers is no outage.
     */
    private static final Logger log = LoggerFactory.getLogger(Sessions.class);

    /** Leases are counted in whole seconds. */
    private static final Duration LEAST_TTL = Duration.ofSeconds(1);

    private final BackendContext context;
    private final Scheduler scheduler;
    private final Wire wire;
    private final Watches watches;
    private final Keys keys;
    private final Runnable whenAnswered;
    private final Renewer<Session> renewer;
    private final long leaseSeconds;
    private final long renewalNanos;
    private volatile @Nullable Session current; // written under this
    private volatile @Nullable Throwable refusal;
    private volatile long grantedSeconds;
    private Watches.@Nullable Watch watch; // guarded by this
    private CompletableFuture<Void> opening = CompletableFuture.completedFuture(null); // guarded by this
    private boolean closed; // guarded by this

    Sessions(BackendContext context, Wire wire, Watches watches, Keys keys, Runnable whenAnswered) {
        this.context = context;
        this.scheduler = context.scheduler();
        this.wire = wire;
        this.watches = watches;
        this.keys = keys;
        this.whenAnswered = whenAnswered;
        this.renewer = new Renewer<>(context, 1, LossReason.SESSION_ENDED, batch -> renew(batch.get(0)));
        this.leaseSeconds = context.ttl().plusNanos(999_999_999).toSeconds();
        this.renewalNanos = context.renewalTimeout().toNanos();
    }

    /** The session that lives, as far as is known; null while another is being opened. */
    @Nullable
    Session current() {
        return current;
    }

    /** Why etcd has refused the session that is missing; null if there is one, or if the last try was not answered. */
    @Nullable
    Throwable refusal() {
        return refusal;
    }

    /** The smallest ttl that the cluster keeps, as far as the last session's lease tells. */
    Duration minTtl() {
        return grantedSeconds > leaseSeconds ? Duration.ofSeconds(grantedSeconds) : LEAST_TTL;
    }

    /** Opens a session, in one try. */
    CompletableFuture<Session> open() {
        long lease = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
        ByteString key = keys.session(context.clientId(), lease);
        ByteString value = Keys.bytes("client=" + context.clientName() + "\n");
        long sent = scheduler.nanoTime();
        return wire.call(
                        Rpc.LEASE_GRANT,
                        LeaseGrantRequest.newBuilder()
                                .setID(lease)
                                .setTTL(leaseSeconds)
                                .build())
                .thenCompose(granted -> {
                    grantedSeconds = granted.getTTL();
                    return wire.call(
                            Rpc.TXN,
                            TxnRequest.newBuilder()
                                    .addSuccess(Requests.put(key, value, lease))
                                    .addSuccess(Requests.op(Requests.look(key)))
                                    .build());
                })
                .thenCompose(answer -> {
                    Session session =
                            new Session(lease, key, value, Renewer.deadline(sent, context.ttl()), this::ended);
                    Requests.found(answer, 1).forEach(kv -> session.fenceSeen(kv.getVersion()));
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
        synchronized (this) {
            if (closed) {
                return revoke(session.lease());
            }
            current = session;
            refusal = null;
            watch = watches.watch(session.key(), new Watches.Watcher() {
                @Override
                public void watching() {
                    check(session);
                }

                @Override
                public void changed(Event event) {
                    if (event.getType() == Event.EventType.DELETE) {
                        session.signalLost(LossReason.SESSION_ENDED);
                    }
                }
            });
        }
        renewer.register(session);
        whenAnswered.run();
        return CompletableFuture.completedFuture(null);
    }

    /** Opens a session, in as many tries as it takes. */
    private void reopen(int failures) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        synchronized (this) {
            if (closed) {
                return;
            }
            opening = done;
        }
        open().whenComplete((session, failure) -> {
            done.complete(null);
            if (failure != null && !isClosed()) {
                notOpened(failure);
                int more = failures + 1;
                scheduler.schedule(context.retryBackoff().delay(more).toNanos(), () -> reopen(more));
            }
        });
    }

    private void notOpened(Throwable failure) {
        if (Failures.isUnanswered(failure) || Failures.isLeaseGone(failure)) {
            refusal = null;
            return;
        }
        if (refusal == null) {
            log.warn(
                    "etcd refuses a session to client {}: {}; trying again",
                    context.clientName(),
                    Failures.status(failure));
        }
        refusal = failure;
        whenAnswered.run();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void ended(Session session) {
        synchronized (this) {
            if (closed || current != session) {
                return;
            }
            log.warn("The session of client {} has ended at etcd; opening another", context.clientName());
            current = null;
            if (watch != null) {
                watch.cancel();
            }
        }
        renewer.unregister(session);
        revoke(session.lease());
        reopen(0);
    }

    private CompletableFuture<List<Session>> renew(Session session) {
        watches.probe();
        CompletableFuture<?> allowed =
                session.isReadRefused() ? read(session) : CompletableFuture.completedFuture(null);
        return allowed.thenCompose(any -> wire.call(
                        Rpc.LEASE_KEEP_ALIVE,
                        LeaseKeepAliveRequest.newBuilder()
                                .setID(session.lease())
                                .build(),
                        renewalNanos))
                .thenCompose(kept -> read(session).thenApply(found -> verdict(session, kept, found)));
    }

    private CompletableFuture<RangeResponse> read(Session session) {
        return wire.call(Rpc.RANGE, Requests.look(session.key()).build(), renewalNanos)
                .whenComplete(
                        (found, failure) -> session.readRefused(failure != null && !Failures.isUnanswered(failure)));
    }

    /** What a keepalive and the read after it say: the session if it has ended. Throws if they say nothing certain. */
    static List<Session> verdict(Session session, LeaseKeepAliveResponse kept, RangeResponse found) {
        if (found.getKvsCount() == 0) {
            return List.of(session);
        }
        session.fenceSeen(found.getKvs(0).getVersion());
        if (kept.getTTL() <= 0
                || kept.getHeader().getRaftTerm() != found.getHeader().getRaftTerm()) {
            throw Status.UNAVAILABLE
                    .withDescription("the leader changed during a keepalive")
                    .asRuntimeException();
        }
        return List.of();
    }

    private void check(Session session) {
        wire.call(Rpc.RANGE, Requests.look(session.key()).build()).thenAccept(found -> {
            if (found.getKvsCount() == 0) {
                session.signalLost(LossReason.SESSION_ENDED);
            } else {
                session.fenceSeen(found.getKvs(0).getVersion());
            }
        });
    }

    /** A transaction found the session's key so. */
    static boolean isAlive(Session session, List<KeyValue> found) {
        if (found.isEmpty()) {
            session.signalLost(LossReason.SESSION_ENDED);
            return false;
        }
        session.fenceSeen(found.get(0).getVersion());
        return true;
    }

    /** Ends a lease, in one try: without keepalives it ends by itself. */
    private CompletableFuture<Void> revoke(long lease) {
        return wire.call(
                        Rpc.LEASE_REVOKE,
                        LeaseRevokeRequest.newBuilder().setID(lease).build())
                .handle((answer, failure) -> null);
    }

    /** Ends the session, and with it all that the client has at etcd. */
    CompletableFuture<Void> close() {
        Session last;
        CompletableFuture<Void> unfinished;
        synchronized (this) {
            closed = true;
            last = current;
            current = null;
            unfinished = opening;
        }
        renewer.close();
        if (last == null) {
            return unfinished; // it ends what it opens
        }
        CompletableFuture<Void> revoked = revoke(last.lease());
        last.signalLost(LossReason.CLIENT_CLOSED);
        return revoked;
    }
}
