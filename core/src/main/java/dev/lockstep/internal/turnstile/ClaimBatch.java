package dev.lockstep.internal.turnstile;

import dev.lockstep.spi.Claim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The claims that one call makes for several locks, and sends to the engine together. Filled and submitted by one thread;
 * the answers may come on any.
 *
 * <p>At each turnstile the call is one that does not wait, and its claim is its own, as if it had come alone: the
 * turnstile decides what happens to the claim. Only the request is made here, in place of {@link Actions#submit}.
 */
public final class ClaimBatch {
    private final TurnstileContext client;
    private final long sentNanos;
    private final List<Waiter> waiters = new ArrayList<>();

    /** Begins a batch that is sent soon. */
    public ClaimBatch(TurnstileContext client) {
        this.client = client;
        this.sentNanos = client.nanoTime();
    }

    /**
     * Adds the claim of a call that does not wait.
     *
     * @return false if the lock is in use here, so that the call must take it alone
     */
    public boolean add(Turnstile turnstile, Call call) {
        Waiter waiter = turnstile.enterBatch(call, sentNanos);
        if (waiter == null) {
            return false;
        }
        waiters.add(waiter);
        return true;
    }

    /** The calls, in the order in which they were added. */
    public List<Waiter> waiters() {
        return Collections.unmodifiableList(waiters);
    }

    /** Asks the engine. Must be called once something was added. */
    public void submit() {
        List<Passage> passages = new ArrayList<>(waiters.size());
        for (Waiter waiter : waiters) {
            Passage passage = waiter.passage();
            if (passage == null) {
                throw new IllegalStateException("A call of a batch has a claim.");
            }
            passages.add(passage);
        }
        List<Actions.Submission> submissions = call(passages);
        for (int i = 0; i < passages.size(); i++) {
            Passage passage = passages.get(i);
            passage.turnstile.actions.follow(passage, submissions.get(i));
        }
    }

    private List<Actions.Submission> call(List<Passage> passages) {
        List<Actions.Submission> submissions = new ArrayList<>(passages.size());
        try {
            for (Claim claim : client.backend().submitAll(passages)) {
                submissions.add(new Actions.Submission(claim, claim.outcome().toCompletableFuture()));
            }
        } catch (RuntimeException | Error e) {
            while (submissions.size() < passages.size()) {
                submissions.add(new Actions.Submission(null, CompletableFuture.failedFuture(e)));
            }
        }
        return submissions;
    }
}
