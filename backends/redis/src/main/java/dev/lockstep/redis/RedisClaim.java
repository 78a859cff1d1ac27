package dev.lockstep.redis;

import dev.lockstep.LockstepException;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Refusals;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Limits;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Renewer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One claim, from its submission until what it got is released. Safe for use by many threads. */
final class RedisClaim implements Claim {
    /*
     * Overview. A claim asks; while it waits, Waiters looks after it, together with the client's other claims for the
     * lock. The answer comes from its own request, from such a look, or by push. The first one counts.
     *
     * A request that was sent and not answered may be carried out after the claim was withdrawn, and take a lock that nobody
     * uses. So a claim remembers that it is unsure of a request (ServerRecord), and its release then leaves a note on the
     * server that the claim is gone. A withdrawal waits for a request that is on its way, so this is rare.
     *
     * The validity of a grant that came by push counts from the last request that the server is known to have answered,
     * because the server counts a waiter's time from then.
     */

    private static final Runnable NOTHING = () -> {};

    private final RedisBackend backend;
    private final ClaimRequest request;
    private final Keys keys;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private volatile boolean mustWait;

    // Guarded by this.
    private ClaimStatus state = ClaimStatus.READY;
    private final ServerRecord record;
    private final PushedNews pushed = new PushedNews();
    private final Refusals refusals;
    private int polls;
    private @Nullable RedisGrant grant;

    RedisClaim(RedisBackend backend, ClaimRequest request, Keys keys) {
        this.backend = backend;
        this.request = request;
        this.keys = keys;
        this.record = new ServerRecord(request.claimId(), backend.dialect().ownerOf(request), request.sentNanos());
        this.refusals = new Refusals(backend.context());
    }

    ClaimRequest request() {
        return request;
    }

    Keys keys() {
        return keys;
    }

    synchronized byte[] owner() {
        return record.owner();
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return mustWait;
    }

    /** Moves to the next state. Under the monitor. */
    private void moveTo(ClaimStatus next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("Lock '" + request.name() + "': " + state + " cannot become " + next);
        }
        state = next;
    }

    /** Asks for the first time. */
    void start() {
        if (!request.mayBarge() && !backend.dialect().traits().fair()) {
            // Without a queue, a claim goes behind others by letting them try first.
            askLater(backend.pollDelay(Integer.MAX_VALUE).toNanos());
        } else if (request.blockAtMost().isZero()) {
            askSoon();
        } else {
            ask(backend.scheduler().nanoTime() + request.blockAtMost().toNanos());
        }
    }

    private void askSoon() {
        long deadline = backend.context().requestDeadlineNanos();
        backend.link().execute(() -> ask(deadline));
    }

    private void askLater(long delayNanos) {
        backend.scheduler().schedule(delayNanos, this::askSoon);
    }

    private void ask(long deadlineNanos) {
        if (!beginsToAsk()) {
            return;
        }
        long sent = backend.scheduler().nanoTime();
        Answer answer;
        try {
            answer = backend.dialect().acquire(this, deadlineNanos);
        } catch (Failure | RuntimeException e) {
            Failure failure = e instanceof Failure known ? known : Failure.of(backend.address(), e);
            failed(failure, sent, deadlineNanos).run();
            return;
        }
        answered(answer, sent).run();
    }

    /** A request is about to be made, for it alone or with others. False if it was withdrawn before. */
    synchronized boolean beginsToAsk() {
        if (state != ClaimStatus.READY) {
            return false;
        }
        moveTo(ClaimStatus.ASKING);
        return true;
    }

    /** A request for it and others has failed; the claim fails with it if there is no other. Run its result, too. */
    synchronized Runnable batchFailed(Failure failure, boolean last) {
        record.failed(failure);
        return !last ? NOTHING : state.isOver() ? leaveIfWithdrawn() : acquireFails(failure);
    }

    /** Decides the next step after an answer. The returned task is run without the monitor. */
    synchronized Runnable answered(Answer answer, long sent) {
        refusals.end();
        record.answered();
        if (state.isOver()) {
            return leaveIfWithdrawn();
        }
        switch (answer.kind()) {
            case GRANTED:
                return granted(answer, Renewer.deadline(sent, backend.ttl()));
            case BUSY:
                return ended(() -> outcome.complete(Outcome.Busy.INSTANCE));
            case WAITING:
                return waits(answer, sent);
            case MISSING:
                moveTo(ClaimStatus.READY);
                record.forgotten(backend.scheduler().nanoTime());
                return () -> {
                    backend.waiters().leave(this);
                    askSoon();
                };
            case CONFLICT:
                return failsWith(Limits.conflict(request.name(), request.limit(), answer.limit()));
            case UNREPLICATED:
                return failsWith(
                        Replication.failure(request.name(), backend.link().route()));
            default:
                // The server has a note that it was given up, which only a withdrawal leaves there.
                moveTo(ClaimStatus.SETTLED);
                return NOTHING;
        }
    }

    private Runnable waits(Answer answer, long sent) {
        boolean news = !mustWait;
        mustWait = true;
        Runnable next = nextStep(answer, sent);
        return news
                ? () -> {
                    request.listener().waiting();
                    next.run();
                }
                : next;
    }

    private Runnable nextStep(Answer answer, long sent) {
        record.waits(sent);
        Answer push = pushed.grant();
        if (push != null) {
            return granted(push, Renewer.deadline(sent, backend.waiterExpiry()));
        }
        if (!backend.dialect().traits().push()) {
            moveTo(ClaimStatus.READY);
            long delay = backend.pollDelay(++polls).toNanos();
            return () -> askLater(delay);
        }
        moveTo(ClaimStatus.WAITING);
        return () -> backend.waiters().join(this, answer.freeInMillis());
    }

    private synchronized Runnable failed(Failure failure, long sent, long deadlineNanos) {
        record.failed(failure);
        if (state.isOver()) {
            return leaveIfWithdrawn();
        }
        Answer push = pushed.grant();
        if (push != null) {
            return granted(push, Renewer.deadline(record.countsFromNanos(), backend.waiterExpiry()));
        }
        long delay = refusals.delayNanos(failure, backend.link(), sent);
        if (delay < 0) {
            return acquireFails(failure);
        }
        moveTo(ClaimStatus.READY);
        // A connection that was idle for long fails at once; the next is a new one, and needs no pause. One that failed
        // late was silent, and what is left of the time would cost another connection for nothing.
        long now = backend.scheduler().nanoTime();
        boolean atOnce = refusals.failures() == 1 && deadlineNanos - now > now - sent;
        return atOnce ? () -> ask(deadlineNanos) : () -> askLater(delay);
    }

    private Runnable leaveIfWithdrawn() {
        if (state != ClaimStatus.LEAVING) {
            return NOTHING;
        }
        moveTo(ClaimStatus.WITHDRAWN);
        return () -> leave(LockBackend.DO_NOT_BLOCK);
    }

    private Runnable granted(Answer answer, long validUntilNanos) {
        moveTo(ClaimStatus.SETTLED);
        RedisGrant made = new RedisGrant(backend, this, answer.token(), validUntilNanos);
        grant = made;
        boolean others = answer.wanted() || pushed.isWanted();
        return () -> {
            if (others) {
                made.signalWanted(); // before the grant is passed on, so that it is wanted from the beginning
            }
            backend.waiters().leave(this);
            backend.renewer().register(made);
            outcome.complete(new Outcome.Granted(made));
            if (isWithdrawn()) {
                backend.renewer().unregister(made); // the withdrawal may have come before the registration
            }
        };
    }

    private synchronized boolean isWithdrawn() {
        return state == ClaimStatus.WITHDRAWN;
    }

    private Runnable acquireFails(Failure failure) {
        return failsWith(failure.asLockstepException(request.name(), "acquire"));
    }

    private Runnable failsWith(LockstepException failure) {
        return ended(() -> outcome.completeExceptionally(failure));
    }

    private Runnable ended(Runnable complete) {
        moveTo(ClaimStatus.SETTLED);
        return () -> {
            backend.waiters().leave(this);
            backend.forget(this);
            complete.run();
        };
    }

    synchronized boolean isWaiting() {
        return state == ClaimStatus.WAITING;
    }

    /** {@link Waiters} looked after it. */
    void looked(Answer answer, long sent) {
        Runnable next;
        synchronized (this) {
            if (state != ClaimStatus.WAITING) {
                return;
            }
            if (answer.kind() == Answer.Kind.WAITING) {
                record.waits(sent);
                return;
            }
            next = answered(answer, sent);
        }
        next.run();
    }

    /** {@link Waiters} could not look after it, and never will. */
    void lookFailed(Failure failure) {
        Runnable next;
        synchronized (this) {
            next = state == ClaimStatus.WAITING
                    ? failsWith(failure.asLockstepException(request.name(), "wait"))
                    : NOTHING;
        }
        next.run();
    }

    /** The server granted it, and says so by push. */
    void pushedGrant(String of, long token, boolean others) {
        Runnable next;
        synchronized (this) {
            if (state.isOver() || !record.isKnownAs(of)) {
                return;
            }
            Answer answer = Answer.granted(token, others);
            if (state == ClaimStatus.ASKING) {
                pushed.granted(answer); // the request on its way says the same, or knows from when the grant counts
                return;
            }
            next = granted(answer, Renewer.deadline(record.countsFromNanos(), backend.waiterExpiry()));
        }
        next.run();
    }

    /** The server says that the lock is free, or that there is another reason to look. */
    void pushedHint() {
        synchronized (this) {
            pushed.hinted();
            if (state != ClaimStatus.WAITING) {
                return;
            }
        }
        backend.waiters().look(this);
    }

    /** Whether a hint has come since this was last asked. */
    synchronized boolean takeHint() {
        return pushed.takeHint();
    }

    /** Another client waits for what this claim got, or is about to get. */
    void pushedWanted() {
        RedisGrant known;
        synchronized (this) {
            pushed.wanted();
            known = grant;
        }
        if (known != null) {
            known.signalWanted();
        }
    }

    /** An operator has released its hold by force. */
    void pushedRevocation(String of) {
        RedisGrant known;
        synchronized (this) {
            known = record.isKnownAs(of) ? grant : null;
        }
        if (known != null) {
            known.revoked();
        }
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        synchronized (this) {
            if (state == ClaimStatus.ASKING) {
                moveTo(ClaimStatus.LEAVING);
                return gone;
            }
            moveTo(ClaimStatus.WITHDRAWN);
        }
        leave(blockAtMost);
        return gone;
    }

    private void leave(Duration blockAtMost) {
        backend.waiters().leave(this);
        RedisGrant held;
        boolean nothing;
        synchronized (this) {
            held = grant;
            nothing = record.isEmpty();
        }
        if (nothing) {
            backend.forget(this);
            gone.complete(null);
            return;
        }
        // Gone either way: the server said so, or its ttl has passed.
        new Release(backend, this, held, null).begin(blockAtMost).whenComplete((had, failure) -> gone.complete(null));
    }

    /** Whether a request that was not answered may still reach the server, and must then get nothing. */
    synchronized boolean isUnsure() {
        return record.isUnsure();
    }

    /** The client was closed. */
    void close(LockstepException closed) {
        synchronized (this) {
            moveTo(ClaimStatus.SETTLED);
        }
        outcome.completeExceptionally(closed);
        gone.complete(null);
    }
}
