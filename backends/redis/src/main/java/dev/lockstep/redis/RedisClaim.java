package dev.lockstep.redis;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Renewer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One claim, from its submission until what it got is given back. Safe for use by many threads. */
final class RedisClaim implements Claim {
    /*
     * Overview. A claim asks; while it waits, its line looks after it, together with the client's other claims for the lock;
     * the answer comes from its own request, from a look of its line, or by push. Whatever comes first counts.
     *
     *   ASKING ──▶ WAITING ──▶ SETTLED        ASKING: a request is on its way, or the next try of it is scheduled.
     *      │  ◀──────┘            ▲           WAITING: the server has it in its queue.
     *      └──────────────────────┘           SETTLED: granted, busy, failed or withdrawn.
     *
     * What arrives late is the danger. A request that was sent and not answered may be carried out after the claim was given
     * up, and would take a lock for nobody. So a claim remembers that it was unsure of a request, and the release that
     * ends it then leaves word at the server that the claim is gone. A withdrawal waits for a request that is on its
     * way, so that this is rare.
     *
     * A claim that the server has forgotten asks again under another id, so that a message about its earlier life is not
     * taken for news.
     *
     * The validity of a grant that came by push counts from the last request that the server is known to have answered,
     * because that is from when the server counts the time it gives to a waiter.
     */
    /** Between a claim's id and the number of its life. */
    static final char LIFE = '/';

    private enum State {
        ASKING,
        WAITING,
        SETTLED
    }

    private final RedisBackend backend;
    private final ClaimRequest request;
    private final LockKeys keys;
    private final byte[] info;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

    // Guarded by this.
    private State state = State.ASKING;
    private boolean inFlight;
    private boolean unsure;
    private boolean atServer;
    private boolean wanted;
    private boolean toldFree;
    private final Refusals refusals;
    private int failures;
    private int polls;
    private int lives;
    private String id;
    private byte[] owner;
    private long basisNanos;
    private @Nullable Answer pushed;
    private @Nullable RedisGrant grant;
    private @Nullable CompletableFuture<Void> withdrawal;

    private volatile boolean mustWait;

    RedisClaim(RedisBackend backend, ClaimRequest request, LockKeys keys, byte[] owner, byte[] info) {
        this.backend = backend;
        this.request = request;
        this.keys = keys;
        this.id = request.claimId();
        this.owner = owner;
        this.info = info;
        this.basisNanos = request.sentNanos();
        this.refusals = new Refusals(backend.context().requestTimeout());
    }

    ClaimRequest request() {
        return request;
    }

    LockKeys keys() {
        return keys;
    }

    /** What identifies the claim at the server. */
    synchronized byte[] owner() {
        return owner;
    }

    /** Who asks, for people. */
    byte[] info() {
        return info;
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return mustWait;
    }

    // ---------------------------------------------------------------- asking

    /** Asks for the first time. */
    void start() {
        if (!request.mayBarge() && !backend.dialect().traits().fair()) {
            // Without a queue, to go behind others is to let them try first.
            askLater(backend.pollDelay(Integer.MAX_VALUE));
        } else if (request.blockAtMost().isZero()) {
            askSoon();
        } else {
            ask(backend.scheduler().nanoTime() + request.blockAtMost().toNanos());
        }
    }

    private void askSoon() {
        long deadline = backend.link().deadline();
        backend.link().execute(() -> ask(deadline));
    }

    private void askLater(Duration delay) {
        backend.scheduler().schedule(delay.toNanos(), this::askSoon);
    }

    private void ask(long deadlineNanos) {
        synchronized (this) {
            if (state != State.ASKING || inFlight) {
                return;
            }
            inFlight = true;
        }
        long sent = backend.scheduler().nanoTime();
        Answer answer = null;
        Failure failure = null;
        try {
            answer = backend.dialect().acquire(this, deadlineNanos);
        } catch (Failure e) {
            failure = e;
        } catch (RuntimeException e) {
            failure = Failure.of(backend.link().route().toString(), e);
        }
        Runnable next;
        synchronized (this) {
            inFlight = false;
            next = answer != null ? answered(answer, sent) : failed(failure, sent, deadlineNanos);
        }
        next.run();
    }

    /** Decides what follows from an answer. Called with the monitor held; what it returns is run without it. */
    private Runnable answered(Answer answer, long sent) {
        failures = 0;
        atServer = true;
        refusals.end();
        CompletableFuture<Void> asked = withdrawal;
        if (asked != null) {
            return () -> giveBack(LockBackend.DO_NOT_BLOCK, asked);
        }
        if (state == State.SETTLED) {
            return () -> {};
        }
        switch (answer.kind()) {
            case GRANTED:
                return granted(answer, Renewer.deadline(sent, backend.ttl()));
            case BUSY:
                state = State.SETTLED;
                return () -> conclude(Outcome.Busy.INSTANCE);
            case WAITING:
                basisNanos = sent;
                mustWait = true;
                Answer push = pushed;
                if (push != null) {
                    return granted(push, Renewer.deadline(sent, backend.waiterExpiry()));
                }
                if (!backend.dialect().traits().push()) {
                    polls++;
                    return () -> askLater(backend.pollDelay(polls));
                }
                state = State.WAITING;
                return () -> backend.lines().join(this, answer.freeInMillis());
            case MISSING:
                state = State.ASKING;
                id = request.claimId() + LIFE + ++lives;
                owner = Dialect.bytes(id);
                basisNanos = backend.scheduler().nanoTime();
                return this::askSoon;
            case UNREPLICATED:
                state = State.SETTLED;
                return () -> fail(unreplicated());
            default:
                // The server has word that it was given up, which only a withdrawal leaves there.
                state = State.SETTLED;
                return () -> {};
        }
    }

    private LockUnavailableException unreplicated() {
        return new LockUnavailableException(
                request.name(),
                "Lock '" + request.name() + "': too few replicas of Redis "
                        + backend.link().route() + " confirmed it in time. It is given back. Check the replicas, or ask"
                        + " for fewer.");
    }

    private Runnable failed(@Nullable Failure failure, long sent, long deadlineNanos) {
        if (failure == null) {
            throw new IllegalStateException("neither answer nor failure");
        }
        unsure |= failure.kind() == Failure.Kind.UNKNOWN;
        atServer |= failure.kind() == Failure.Kind.FINAL; // perhaps in the midst of the script
        failures++;
        CompletableFuture<Void> asked = withdrawal;
        if (asked != null) {
            return () -> giveBack(LockBackend.DO_NOT_BLOCK, asked);
        }
        if (state == State.SETTLED) {
            return () -> {};
        }
        Answer push = pushed;
        if (push != null) {
            return granted(push, Renewer.deadline(basisNanos, backend.waiterExpiry()));
        }
        long now = backend.scheduler().nanoTime();
        Duration delay = backend.context().retryBackoff().delay(failures);
        if (failure.kind() == Failure.Kind.FINAL
                || refusals.lastTooLong(failure, backend.link(), sent, now, delay.toNanos())) {
            state = State.SETTLED;
            return () -> fail(failure.asLockstepException(request.name(), "acquire"));
        }
        // A connection that was idle for long fails at once; the next is a new one, and needs no pause. One that failed
        // late
        // was silent, and what is left of the time would cost another connection for nothing.
        boolean atOnce = failures == 1 && deadlineNanos - now > now - sent;
        return atOnce ? () -> ask(deadlineNanos) : () -> askLater(delay);
    }

    private Runnable granted(Answer answer, long validUntilNanos) {
        state = State.SETTLED;
        RedisGrant made = new RedisGrant(this, answer.token(), validUntilNanos);
        grant = made;
        boolean others = answer.wanted() || wanted;
        return () -> {
            if (others) {
                made.signalWanted(); // before the grant is told, so that it is wanted from the beginning
            }
            backend.lines().leave(this);
            backend.renewer().register(made);
            outcome.complete(new Outcome.Granted(made));
            if (isWithdrawn()) {
                backend.renewer().unregister(made); // the withdrawal may have come before the registration
            }
        };
    }

    private synchronized boolean isWithdrawn() {
        return withdrawal != null;
    }

    private void fail(LockstepException failure) {
        backend.lines().leave(this);
        backend.forget(this);
        outcome.completeExceptionally(failure);
    }

    private void conclude(Outcome answer) {
        backend.forget(this);
        outcome.complete(answer);
    }

    // ---------------------------------------------------------------- waiting

    synchronized boolean isWaiting() {
        return state == State.WAITING;
    }

    /** Its line looked after it. */
    void looked(Answer answer, long sent) {
        Runnable next;
        synchronized (this) {
            if (state != State.WAITING) {
                return;
            }
            if (answer.kind() == Answer.Kind.WAITING) {
                basisNanos = sent;
                return;
            }
            next = answered(answer, sent);
        }
        if (answer.kind() == Answer.Kind.MISSING) {
            backend.lines().leave(this);
        }
        next.run();
    }

    /** The claim's own id, of which one at the server is made. */
    static String claimIdOf(String id) {
        int end = id.indexOf(LIFE);
        return end < 0 ? id : id.substring(0, end);
    }

    /** Its line could not look after it, and never will. */
    void lookFailed(Failure failure) {
        synchronized (this) {
            if (state != State.WAITING) {
                return;
            }
            state = State.SETTLED;
        }
        fail(failure.asLockstepException(request.name(), "wait"));
    }

    /** The server granted it, and says so by push. */
    void pushedGrant(String of, long token, boolean others) {
        Runnable next;
        synchronized (this) {
            if (state == State.SETTLED || !id.equals(of)) {
                return;
            }
            Answer answer = Answer.granted(token, others);
            if (inFlight) {
                pushed = answer; // the request on its way says the same, or knows from when the grant counts
                return;
            }
            next = granted(answer, Renewer.deadline(basisNanos, backend.waiterExpiry()));
        }
        next.run();
    }

    /** The server says that the lock is free, or that there is another reason to look. */
    void pushedHint() {
        synchronized (this) {
            toldFree = state != State.SETTLED; // its line may not know it yet, and asks when it does
            if (state != State.WAITING) {
                return;
            }
        }
        backend.lines().look(this);
    }

    /** Whether it was told that the lock is free since this was last asked. */
    synchronized boolean takeHint() {
        boolean told = toldFree;
        toldFree = false;
        return told;
    }

    /** Another client waits for what this claim got, or is about to be told that it got. */
    void pushedWanted() {
        RedisGrant known;
        synchronized (this) {
            wanted = true;
            known = grant;
        }
        if (known != null) {
            known.signalWanted();
        }
    }

    /** Somebody took away what it got. */
    void pushedRevocation(String of) {
        RedisGrant known;
        synchronized (this) {
            known = id.equals(of) ? grant : null;
        }
        if (known != null) {
            backend.renewer().unregister(known);
            known.signalLost(LossReason.REVOKED);
        }
    }

    // ---------------------------------------------------------------- giving back

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        synchronized (this) {
            withdrawal = gone;
            state = State.SETTLED;
            if (inFlight) {
                return gone;
            }
        }
        giveBack(blockAtMost, gone);
        return gone;
    }

    private void giveBack(Duration blockAtMost, CompletableFuture<Void> gone) {
        backend.lines().leave(this);
        if (!isAtServer()) {
            backend.forget(this);
            gone.complete(null);
            return;
        }
        // Gone either way: the server said so, or its ttl has passed.
        release(null, blockAtMost).whenComplete((held, failure) -> gone.complete(null));
    }

    /** Whether the server may have something of it: not if every request was refused. */
    private synchronized boolean isAtServer() {
        return atServer || unsure;
    }

    /** Gives back what it has; if a time is given, the server does so when it has passed. */
    CompletableFuture<Boolean> release(@Nullable Duration rest, Duration blockAtMost) {
        RedisGrant given;
        boolean late;
        synchronized (this) {
            given = grant;
            late = unsure || inFlight;
        }
        return Release.of(backend, this, given, late, rest, blockAtMost);
    }

    CompletableFuture<Boolean> downgrade() {
        return backend.requests()
                .once(request.name(), "downgrade", deadline -> backend.dialect().downgrade(this, deadline));
    }

    /** The client was closed. */
    void close(LockstepException closed) {
        CompletableFuture<Void> asked;
        synchronized (this) {
            state = State.SETTLED;
            asked = withdrawal;
        }
        outcome.completeExceptionally(closed);
        if (asked != null) {
            asked.complete(null);
        }
    }
}
