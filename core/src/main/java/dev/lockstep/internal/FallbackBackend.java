package dev.lockstep.internal;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two engines as one: claims go to the primary, and to the fallback while the primary is down. The core knows of it only
 * that some grants have no token.
 *
 * <p>Safe for use by many threads.
 */
final class FallbackBackend implements LockBackend {
    /*
     * Overview
     *
     * All claims go to one side at a time, the course. PrimaryWatch says when the primary is gone (enter) and when it is
     * back (leave). A switch moves every claim that has no answer yet: its attempt at the one side is withdrawn in the
     * background, and another made at the other, in the order of the claims' arrival. Only the current attempt of a
     * claim can answer it, and that is decided under the mutex; so a grant that races a switch is either the claim's
     * answer, or given back by the withdrawal.
     *
     *   FallbackClaim ── attempt ──▶ Claim of a side ──▶ Grant of a side ── FallbackGrant
     *
     * What is held stays held, at the side that granted it. A claim is parked while the client holds a grant of the same
     * name at the other side that stands against it. So for one name a grant taken in fallback and one taken from the
     * primary are never good at once, and each name goes back as soon as its own holds have drained: one long hold does
     * not keep the others from the primary. Grants taken in fallback are told that they are wanted when the primary is
     * back, so that they are neither kept nor handed on for long. When the last of them has ended, the fallback is left.
     *
     * A primary that is gone answers no release and no withdrawal before its ttl has passed, and the turnstile makes no
     * new claim of a name until then. So in fallback these answers are not waited for: a withdrawal counts as done, a
     * release as not confirmed. The primary's backend goes on trying, as it would anyway.
     *
     * Backends, listeners and futures are called without the mutex. It is taken inside no other lock.
     */

    private static final Logger log = LoggerFactory.getLogger(FallbackBackend.class);

    /** One of the two engines. */
    enum Side {
        PRIMARY,
        FALLBACK;

        Side other() {
            return this == PRIMARY ? FALLBACK : PRIMARY;
        }
    }

    /** Where claims go, and since when. */
    private record Course(Side side, long sinceNanos) {}

    final Mutex mutex = new Mutex();
    private final LockBackend primary;
    private final LockBackend fallback;
    private final BackendContext context;
    private final Events events;
    private final Duration after;
    private final Traits traits;
    private final PrimaryWatch watch;
    private volatile Course course;

    // All guarded by the mutex.
    private final Set<FallbackClaim> unanswered = new LinkedHashSet<>(); // in order of arrival
    private final Set<FallbackClaim> parked = new LinkedHashSet<>(); // those of them without an attempt
    private final Map<String, List<FallbackGrant>> grants = new HashMap<>();
    private final Set<Runnable> awaitingPrimary = new HashSet<>(); // each ends a wait for the primary's answer
    private int fallbackGrants;
    private boolean inFallback; // from the first switch until the last grant of the fallback has ended
    private long enteredNanos;
    private boolean closed;

    private FallbackBackend(
            LockBackend primary, LockBackend fallback, BackendContext context, Duration after, Events events) {
        this.primary = primary;
        this.fallback = fallback;
        this.context = context;
        this.after = after;
        this.events = events;
        this.traits = common(primary.traits(), fallback.traits());
        this.course = new Course(Side.PRIMARY, context.scheduler().nanoTime());
        this.watch = new PrimaryWatch(this, primary, context, after);
    }

    /** Connects to both engines. */
    static FallbackBackend open(
            BackendFactory factory, Clients.FallbackPlan plan, BackendContext context, Events events) {
        LockBackend primary = factory.open(context);
        try {
            return new FallbackBackend(primary, plan.factory().open(context), context, plan.after(), events);
        } catch (RuntimeException | Error e) {
            primary.close();
            throw e;
        }
    }

    private static Traits common(Traits one, Traits other) {
        return new Traits(
                one.push() && other.push(),
                one.tellsWanted() && other.tellsWanted(),
                one.shared() && other.shared(),
                one.fair() && other.fair(),
                one.minTtl().compareTo(other.minTtl()) > 0 ? one.minTtl() : other.minTtl());
    }

    LockBackend engine(Side side) {
        return side == Side.PRIMARY ? primary : fallback;
    }

    Side side() {
        return course.side;
    }

    long sideSinceNanos() {
        return course.sinceNanos;
    }

    long nanoTime() {
        return context.scheduler().nanoTime();
    }

    /** How long a call may block: no longer than it takes until the fallback begins. */
    Duration bounded(Duration blockAtMost) {
        return blockAtMost.compareTo(after) > 0 ? after : blockAtMost;
    }

    // ---------------------------------------------------------------- claims

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        FallbackClaim claim = new FallbackClaim(this, request);
        FallbackAttempt attempt = null;
        mutex.enter();
        try {
            if (closed) {
                claim.fail(closedFailure(request.name()));
            } else {
                unanswered.add(claim);
                attempt = route(claim);
            }
        } finally {
            mutex.leave();
        }
        if (attempt != null) {
            attempt.submit();
        }
        return claim;
    }

    /** Chooses a claim's next attempt; none if it must wait for a grant of the other side. Under the mutex. */
    private @Nullable FallbackAttempt route(FallbackClaim claim) {
        ClaimRequest request = claim.request();
        Side side = course.side;
        if (!isHeldAgainst(request, side.other())) {
            parked.remove(claim);
            return claim.attemptAt(side);
        }
        if (request.mayWait()) {
            parked.add(claim);
        } else {
            answered(claim);
            mutex.later(() -> claim.answer(Outcome.Busy.INSTANCE));
        }
        return null;
    }

    private boolean isHeldAgainst(ClaimRequest request, Side side) {
        for (FallbackGrant grant : grants.getOrDefault(request.name(), List.of())) {
            if (grant.side() == side && (grant.mode() == LockMode.EXCLUSIVE || request.mode() == LockMode.EXCLUSIVE)) {
                return true;
            }
        }
        return false;
    }

    private void routeAgain(FallbackClaim claim) {
        FallbackAttempt attempt = route(claim);
        if (attempt != null) {
            mutex.later(attempt::submit);
        }
    }

    private void routeParked() {
        for (FallbackClaim claim : List.copyOf(parked)) {
            routeAgain(claim);
        }
    }

    /** A claim has its answer, or was withdrawn. Under the mutex. */
    void answered(FallbackClaim claim) {
        unanswered.remove(claim);
        parked.remove(claim);
    }

    /** Whether something waits for an answer of the engine. */
    boolean isNeeded() {
        mutex.enter();
        try {
            return !unanswered.isEmpty() || !awaitingPrimary.isEmpty();
        } finally {
            mutex.leave();
        }
    }

    /** The primary is about to be asked. */
    void needed(long sentNanos) {
        watch.needed(sentNanos);
    }

    // ---------------------------------------------------------------- grants

    /** The client has a grant. Under the mutex. */
    void begun(FallbackGrant grant) {
        grants.computeIfAbsent(grant.name(), name -> new ArrayList<>(1)).add(grant);
        fallbackGrants += grant.isFallback() ? 1 : 0;
    }

    /** The client has a grant no more, or it stands in the way of fewer. Under the mutex. */
    void ended(FallbackGrant grant) {
        List<FallbackGrant> ofName = grants.get(grant.name());
        if (ofName == null || !ofName.remove(grant)) {
            return;
        }
        if (ofName.isEmpty()) {
            grants.remove(grant.name());
        }
        fallbackGrants -= grant.isFallback() ? 1 : 0;
        routeParked();
        leaveIfDrained();
    }

    void shared(FallbackGrant grant) {
        mutex.enter();
        try {
            grant.becomeShared();
            routeParked();
        } finally {
            mutex.leave();
        }
    }

    /**
     * Follows an answer that nobody waits for once its side is gone.
     *
     * @param cut what to do with {@code told} then
     */
    <T extends @Nullable Object> void follow(
            Side side, long sentNanos, CompletionStage<T> answer, CompletableFuture<T> told, Runnable cut) {
        mutex.enter();
        try {
            if (side == Side.PRIMARY && !told.isDone()) {
                if (closed || course.side == Side.FALLBACK) {
                    mutex.later(cut);
                } else {
                    awaitingPrimary.add(cut);
                    mutex.later(() -> needed(sentNanos));
                }
            }
        } finally {
            mutex.leave();
        }
        answer.whenComplete((value, error) -> {
            mutex.enter();
            try {
                awaitingPrimary.remove(cut);
            } finally {
                mutex.leave();
            }
            if (error != null) {
                told.completeExceptionally(error);
            } else {
                told.complete(value);
            }
        });
    }

    // ---------------------------------------------------------------- switching

    /** The primary is gone. */
    void enter(long silenceNanos) {
        mutex.enter();
        try {
            if (closed || course.side == Side.FALLBACK) {
                return;
            }
            long now = nanoTime();
            course = new Course(Side.FALLBACK, now);
            log.warn("The engine has not answered for {} ms: falling back", silenceNanos / 1_000_000);
            if (!inFallback) {
                inFallback = true;
                enteredNanos = now;
                mutex.later(() -> events.fallbackEntered(silenceNanos));
            }
            awaitingPrimary.forEach(mutex::later);
            awaitingPrimary.clear();
            move();
        } finally {
            mutex.leave();
        }
    }

    /** The primary is back. */
    void leave() {
        mutex.enter();
        try {
            if (closed || course.side == Side.PRIMARY) {
                return;
            }
            course = new Course(Side.PRIMARY, nanoTime());
            log.info("The engine answers again; {} lock(s) are still held in fallback", fallbackGrants);
            for (List<FallbackGrant> ofName : grants.values()) {
                for (FallbackGrant grant : ofName) {
                    if (grant.isFallback()) {
                        mutex.later(grant::drain);
                    }
                }
            }
            move();
            leaveIfDrained();
        } finally {
            mutex.leave();
        }
    }

    private void move() {
        for (FallbackClaim claim : List.copyOf(unanswered)) {
            claim.dropAttempt();
            routeAgain(claim);
        }
    }

    private void leaveIfDrained() {
        if (inFallback && course.side == Side.PRIMARY && fallbackGrants == 0) {
            inFallback = false;
            long duration = nanoTime() - enteredNanos;
            mutex.later(() -> events.fallbackLeft(duration));
        }
    }

    // ---------------------------------------------------------------- everything else

    /** That of the present side; before its first, that of the other until the switch. */
    @Override
    public long lastContactNanos() {
        Course now = course;
        long contact = engine(now.side).lastContactNanos();
        if (contact - now.sinceNanos >= 0) {
            return contact;
        }
        long before = engine(now.side.other()).lastContactNanos();
        return before - now.sinceNanos < 0 ? before : now.sinceNanos;
    }

    /** When the primary last answered. */
    long primaryContactNanos() {
        return primary.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return engine(side()).ping();
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        Side asked = side();
        return engine(asked).inspect(name).thenApply(info -> shown(info, asked));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        Side asked = side();
        return engine(asked)
                .list(prefix)
                .thenApply(
                        infos -> infos.stream().map(info -> shown(info, asked)).toList());
    }

    /** What the fallback knows, without its tokens: holders have none. */
    private static LockInfo shown(LockInfo info, Side asked) {
        if (asked == Side.PRIMARY) {
            return info;
        }
        List<LockInfo.Entry> holders = info.holders().stream()
                .map(entry -> new LockInfo.Entry(entry.mode(), OptionalLong.empty(), entry.holder()))
                .toList();
        return new LockInfo(info.name(), holders, info.waiters());
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return engine(side()).forceRelease(name);
    }

    @Override
    public void close() {
        mutex.enter();
        try {
            if (closed) {
                return;
            }
            closed = true;
            for (FallbackClaim claim : parked) {
                mutex.later(() -> claim.fail(closedFailure(claim.request().name())));
            }
            parked.clear();
            unanswered.clear();
            awaitingPrimary.forEach(mutex::later);
            awaitingPrimary.clear();
        } finally {
            mutex.leave();
        }
        watch.close();
        try {
            primary.close();
        } finally {
            fallback.close();
        }
    }

    private LockUnavailableException closedFailure(String name) {
        return new LockUnavailableException(
                name, "Lock '" + name + "': client '" + context.clientName() + "' was closed.");
    }
}
