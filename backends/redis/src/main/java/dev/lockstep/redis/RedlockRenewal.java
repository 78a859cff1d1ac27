package dev.lockstep.redis;

import dev.lockstep.spi.Renewer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One renewal of many grants at all servers at once: done when a majority has said about each what became of it. */
final class RedlockRenewal {
    private final RedlockBackend backend;
    private final List<RedlockGrant> grants;
    private final long sentNanos;
    private final CompletableFuture<List<RedlockGrant>> done = new CompletableFuture<>();

    // Guarded by this.
    private final int[] kept;
    private final int[] gone;
    private final List<RedlockGrant> lost = new ArrayList<>();
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

    /** Renews grants; returns those that a majority does not know any more. */
    static CompletableFuture<List<RedlockGrant>> of(RedlockBackend backend, List<RedlockGrant> grants) {
        RedlockRenewal renewal = new RedlockRenewal(backend, grants);
        long deadline = renewal.sentNanos + backend.context().renewalTimeout().toNanos();
        for (Member member : backend.members()) {
            member.link().executeUpkeep(() -> renewal.at(member, deadline));
        }
        return renewal.done;
    }

    private void at(Member member, long deadlineNanos) {
        Map<RedlockGrant, Object> answer;
        try {
            answer = Batches.ask(
                    member.link(),
                    Script.RENEW,
                    grants,
                    grant -> grant.claim().keys(),
                    LockKeys::renewed,
                    List.of(backend.ttlMillis()),
                    grant -> grant.claim().seat(member.index()).owner(),
                    connection -> true,
                    deadlineNanos);
        } catch (Failure e) {
            answered(e);
            return;
        }
        for (int i = 0; i < grants.size(); i++) {
            Object word = answer.get(grants.get(i));
            count(i, member, word == null ? 0 : ((Long) word).intValue());
        }
        answered(null);
    }

    private void count(int i, Member member, int word) {
        RedlockGrant grant = grants.get(i);
        boolean enough;
        synchronized (this) {
            int majority = backend.majority();
            if (word > 0) {
                kept[i]++;
            } else {
                gone[i]++;
            }
            enough = kept[i] == majority && word > 0;
            boolean tooFew = gone[i] == backend.size() - majority + 1 && word == 0;
            if (tooFew) {
                lost.add(grant);
            }
            if (enough || tooFew) {
                undecided--;
            }
        }
        if (enough) {
            grant.renewedUntil(Renewer.deadline(sentNanos, backend.ttl()));
        }
        if (word == 0) {
            grant.claim().strengthen(grant.claim().seat(member.index()));
        } else {
            grant.claim().renewed(member.index());
        }
        if (word == 2) {
            grant.signalWanted();
        }
    }

    private void answered(@Nullable Failure failure) {
        List<RedlockGrant> result = null;
        boolean all;
        synchronized (this) {
            answers++;
            all = answers == backend.size();
            if (undecided == 0) {
                result = List.copyOf(lost);
            }
        }
        if (result != null) {
            done.complete(result);
        } else if (all) {
            done.completeExceptionally(
                    failure != null ? failure : Failure.notSent("servers", "a majority did not answer", null));
        }
    }
}
