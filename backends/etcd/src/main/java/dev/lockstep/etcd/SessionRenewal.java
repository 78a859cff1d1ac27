package dev.lockstep.etcd;

import dev.lockstep.etcd.proto.Etcd.LeaseKeepAliveRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseKeepAliveResponse;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Proves to etcd that a session's client lives, and finds out whether the session does. Safe for use by many threads. */
final class SessionRenewal {
    /*
     * Overview. A renewal is a keepalive and then a read of the session's key, which must be answered in the same raft
     * term. A keepalive alone proves little: a leader that was stopped, or whose disk stalled, answers keepalives
     * before it learns that there is another leader, where the lease continues to expire. The read is confirmed by a
     * majority; and since the member that passed the keepalive on was in the same term before, it passed it to that
     * term's leader. The deadline counts from before the keepalive was sent.
     *
     * Keepalives need no rights, and reads do. Once etcd has refused the read, it must succeed before the next keepalive is
     * sent: otherwise the lease, and every lock on it, would live as long as a process that can neither hold nor release.
     */
    private final Link link;
    private final long timeoutNanos;

    SessionRenewal(Link link, Duration timeout) {
        this.link = link;
        this.timeoutNanos = timeout.toNanos();
    }

    /** Renews a session. Returns the session if it has ended; fails if the outcome is unknown. */
    CompletableFuture<List<Session>> renew(Session session) {
        CompletableFuture<?> allowed =
                session.isReadRefused() ? read(session) : CompletableFuture.completedFuture(null);
        return allowed.thenCompose(any -> link.call(
                        Rpc.LEASE_KEEP_ALIVE,
                        LeaseKeepAliveRequest.newBuilder()
                                .setID(session.lease())
                                .build(),
                        timeoutNanos))
                .thenCompose(kept -> read(session).thenApply(found -> verdict(session, kept, found)));
    }

    private CompletableFuture<RangeResponse> read(Session session) {
        return link.call(Rpc.RANGE, Txns.look(session.key()).build(), timeoutNanos)
                .whenComplete(
                        (found, failure) -> session.readRefused(failure != null && !Failure.isUnanswered(failure)));
    }

    /**
     * The result of a keepalive and the read after it: the session if it has ended. Throws if the outcome is unknown.
     */
    static List<Session> verdict(Session session, LeaseKeepAliveResponse kept, RangeResponse found) {
        if (!session.isFound(found.getKvsList())) {
            return List.of(session);
        }
        if (kept.getTTL() <= 0
                || kept.getHeader().getRaftTerm() != found.getHeader().getRaftTerm()) {
            throw Status.UNAVAILABLE
                    .withDescription("the leader changed during a keepalive")
                    .asRuntimeException();
        }
        return List.of();
    }

    /** Looks whether a session is still there, without renewing it. */
    void check(Session session) {
        link.call(Rpc.RANGE, Txns.look(session.key()).build())
                .thenAccept(found -> session.endUnlessFound(found.getKvsList()));
    }
}
