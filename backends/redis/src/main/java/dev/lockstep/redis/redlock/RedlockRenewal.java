package dev.lockstep.redis.redlock;

import dev.lockstep.LossReason;
import dev.lockstep.redis.internal.Batches;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Renewal;
import dev.lockstep.redis.internal.Reply;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.spi.Renewer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One renewal of many grants at all servers at once: done when a majority has answered for each grant. Each grant gets
 * its result at once.
 */
final class RedlockRenewal {
    private final RedlockBackend backend;
    private final List<RedlockGrant> grants;
    private final long sentNanos;
    private final CompletableFuture<List<RedlockGrant>> done = new CompletableFuture<>();

    // Guarded by this.
    private final int[] kept;
    private final int[] gone;
    private int undecided;
    private int answers;

    private RedlockRenewal(RedlockBackend backend, List<RedlockGrant> grants) {
        this.backend = backend;
        this.grants = grants;
        this.sentNanos = backend.scheduler().nanoTime();
        this.kept = new int[grants.size()];
        this.gone = new int[grants.size()];
        this.undecided = grants.size();
    }

    /** Renews grants; those that a majority does not know any more are lost. */
    static CompletableFuture<List<RedlockGrant>> of(RedlockBackend backend, List<RedlockGrant> grants) {
        RedlockRenewal renewal = new RedlockRenewal(backend, grants);
        long deadline = renewal.sentNanos + backend.context().renewalTimeout().toNanos();
        for (Member member : backend.members()) {
            member.link().executeUpkeep(() -> renewal.at(member, deadline));
        }
        return renewal.done;
    }

    private void at(Member member, long deadlineNanos) {
        Batches.Question<RedlockGrant> renewal = new Batches.Question<>(
                Script.RENEW,
                grant -> grant.claim().keys(),
                Keys::renewed,
                List.of(backend.ttlMillis()),
                grant -> grant.claim().memberClaim(member.index()).id().bytes(),
                connection -> true);
        Map<RedlockGrant, Reply<Object>> replies =
                Batches.ask(member.link(), member.link().own(), renewal, grants, deadlineNanos);
        Failure failure = null;
        List<RedlockGrant> lost = new ArrayList<>();
        for (int i = 0; i < grants.size(); i++) {
            Reply<Object> reply = replies.get(grants.get(i));
            try {
                if (reply != null && isLost(i, member, Renewal.of(reply.get()))) {
                    lost.add(grants.get(i));
                }
            } catch (Failure e) {
                failure = e;
            }
        }
        // Last, because what a loss sets off must not keep the others from their new deadline.
        for (RedlockGrant grant : lost) {
            if (backend.renewer().unregister(grant)) { // else it was released during this renewal
                grant.signalLost(LossReason.REVOKED);
            }
        }
        answered(failure);
    }

    /** Counts what a server says of a grant; true if too few servers can be left of it from now on. */
    private boolean isLost(int i, Member member, Renewal renewal) {
        RedlockGrant grant = grants.get(i);
        boolean lost = renewal == Renewal.LOST;
        boolean enough;
        boolean tooFew;
        synchronized (this) {
            int majority = backend.majority();
            if (lost) {
                gone[i]++;
            } else {
                kept[i]++;
            }
            enough = kept[i] == majority && !lost;
            tooFew = gone[i] == backend.size() - majority + 1 && lost;
            if (enough || tooFew) {
                undecided--;
            }
        }
        if (enough) {
            grant.renewedUntil(Renewer.deadline(sentNanos, backend.ttl()));
        }
        if (lost) {
            grant.claim().strengthen(grant.claim().memberClaim(member.index()));
        } else {
            grant.claim().renewed(member.index());
        }
        if (renewal == Renewal.WANTED) {
            grant.signalWanted();
        }
        return tooFew;
    }

    private void answered(@Nullable Failure failure) {
        boolean all;
        boolean decided;
        synchronized (this) {
            answers++;
            all = answers == backend.size();
            decided = undecided == 0;
        }
        if (decided) {
            done.complete(List.of());
        } else if (all) {
            done.completeExceptionally(
                    failure != null ? failure : Failure.notSent("servers", "a majority did not answer", null));
        }
    }
}
