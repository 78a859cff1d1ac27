package dev.lockstep.etcd;

import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.spi.ClaimRequest;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a claim's own key as far as the claim knows it, which decides its next request. Guarded by its claim.
 */
final class QueuePosition {
    private final EtcdBackend backend;
    private final ClaimRequest request;
    private @Nullable ClaimKey key;
    private long createRevision; // of the key; 0 if it is not known to be there
    private long pendingFence; // under which a request to enter was sent and not answered; 0 if there is none
    private boolean looksAround; // the whole queue must be looked at
    private long admittedAt; // revision at which the queue would have let it in, if it has to look first; 0 if unknown

    QueuePosition(EtcdBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
    }

    /** Whether there is a key in a session that lives. */
    boolean isCurrent() {
        return key != null && !key.session().isEnded();
    }

    /** Begins in a session that lives; false if none has room. */
    boolean begin() {
        createRevision = 0;
        pendingFence = 0; // requests sent with the last session's lease die with it
        admittedAt = 0;
        key = backend.sessions().claimKey(ClaimTerms.of(request));
        return key != null;
    }

    @Nullable
    ClaimKey key() {
        return key;
    }

    boolean isIn(Session session) {
        return key != null && key.session() == session;
    }

    long createRevision() {
        return createRevision;
    }

    long pendingFence() {
        return pendingFence;
    }

    /** The next request. */
    Runnable next(ClaimRequests requests, @Nullable Blockers waitsFor) {
        ClaimKey at = key;
        long created = createRevision;
        long admitted = admittedAt;
        if (at == null) {
            throw new IllegalStateException("no key");
        }
        if (created == 0) {
            return looksAround && admitted == 0 ? () -> requests.survey(at) : () -> requests.enter(at, admitted);
        }
        if (waitsFor != null && !waitsFor.all()) {
            return () -> requests.check(at, waitsFor, created);
        }
        return looksAround ? () -> requests.lookAround(at, created) : () -> requests.look(at, created);
    }

    void viewed(View view) {
        createRevision = view.createRevision();
        looksAround |= view.standing() == View.Standing.STRANGE;
    }

    /** It had entered before. */
    void found(KeyValue own) {
        createRevision = own.getCreateRevision();
    }

    /** The next request to enter succeeds if nobody has come since a revision. */
    void admittedAt(long revision) {
        admittedAt = revision;
    }

    /** Looks at the whole queue from now on, and before it enters. */
    void lookAround() {
        admittedAt = 0;
        looksAround = true;
    }

    /** Another claim has come since: the next request to enter is without that condition. */
    void forgetAdmission() {
        admittedAt = 0;
    }

    /** A request to enter, under a fence, may still arrive. */
    void unanswered(long fence) {
        pendingFence = Math.max(pendingFence, fence);
    }

    /** A stranger's key is where the claim's should be: takes another place. The returned task leaves the last one. */
    Runnable moveAway() {
        ClaimKey from = key;
        long pending = pendingFence;
        pendingFence = 0;
        key = null;
        return () -> {
            if (from != null) {
                from.block();
                backend.leave(from, request.name(), 0, pending);
            }
        };
    }

    /** The claim has no key any more. */
    void left() {
        createRevision = 0;
        pendingFence = 0;
    }

    /** Takes the key out of the queue, if there may be one; called without the claim's monitor. */
    Supplier<CompletableFuture<Boolean>> departure() {
        ClaimKey from = key;
        long created = createRevision;
        long pending = pendingFence;
        return () -> from == null
                ? CompletableFuture.completedFuture(false)
                : backend.leave(from, request.name(), created, pending);
    }
}
