package dev.lockstep.internal.fallback;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.concurrent.Mutex;
import dev.lockstep.internal.events.Events;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides to which of two engines a claim goes, and moves claims when that changes; the state of a {@link
 * FallbackBackend}. Safe for use by many threads.
 */
final class FallbackRouter {
    /*
     * Overview
     *
     * All claims go to one side at a time, the course. PrimaryWatch says when the primary is gone (enter) and when it
     * is back (leave). A switch moves every claim that has no answer yet: its attempt at the one side is withdrawn in
     * the background, and another made at the other, in the order of the claims' arrival. Only the current attempt of a
     * claim can answer it, and that is decided under the mutex; so a grant that races a switch is either the claim's
     * answer, or released by the withdrawal.
     *
     *   FallbackClaim ── attempt ──▶ Claim of a side ──▶ Grant of a side ── FallbackGrant
     *
     * What is held stays held, at the side that granted it. A claim is parked while the client holds a conflicting
     * grant of the same name on the other side. So for one name a grant taken in fallback and one taken from the
     * primary are never good at once, and each name goes back as soon as its own holds have drained: one long hold does
     * not keep the others from the primary. Grants taken in fallback are signalled as wanted when the primary is back,
     * so that they are neither kept nor handed on for long. When the last of them has ended, the fallback is left.
     *
     * A primary that is gone answers no release and no withdrawal before its ttl has passed, and the turnstile makes no
     * new claim of a name until then. So in fallback these answers are not waited for: a withdrawal counts as done, a
     * release as not confirmed. The primary's backend keeps trying, as it would anyway.
     *
     * Backends, listeners and futures are called without the mutex. It is taken inside no other lock.
     */

    private static final Logger log = LoggerFactory.getLogger(FallbackRouter.class);

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
    private final FallbackBackend backend;
    private final Events events;
    private volatile Course course;

    // All guarded by the mutex.
    private final Set<FallbackClaim> unanswered = new LinkedHashSet<>(); // in order of arrival
    private final Set<FallbackClaim> parked = new LinkedHashSet<>(); // those of them without an attempt
    private final HeldGrants held = new HeldGrants();
    private final Set<Runnable> awaitingPrimary = new LinkedHashSet<>(); // each ends a wait for the primary's answer
    private boolean inFallback; // from the first switch until the last grant of the fallback has ended
    private long enteredNanos;
    private boolean closed;

    FallbackRouter(FallbackBackend backend, Events events, long nowNanos) {
        this.backend = backend;
        this.events = events;
        this.course = new Course(Side.PRIMARY, nowNanos);
    }

    FallbackBackend backend() {
        return backend;
    }

    Side side() {
        return course.side;
    }

    long sideSinceNanos() {
        return course.sinceNanos;
    }

    // ---------------------------------------------------------------- claims

    /** Takes a claim in. Returns the attempt that the caller is to submit. */
    @Nullable
    FallbackAttempt add(FallbackClaim claim) {
        mutex.enter();
        try {
            if (closed) {
                claim.fail(closedFailure(claim));
                return null;
            }
            unanswered.add(claim);
            return route(claim);
        } finally {
            mutex.leave();
        }
    }

    /** Chooses a claim's next attempt; none if it must wait for a grant of the other side. Under the mutex. */
    private @Nullable FallbackAttempt route(FallbackClaim claim) {
        ClaimRequest request = claim.request();
        Side side = course.side;
        if (!held.standsAgainst(request, side.other())) {
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

    // ---------------------------------------------------------------- grants

    /** The client has a grant. Under the mutex. */
    void begun(FallbackGrant grant) {
        held.add(grant);
    }

    /** The client no longer has a grant, or the grant excludes fewer claims. Under the mutex. */
    void ended(FallbackGrant grant) {
        if (held.remove(grant)) {
            routeParked();
            leaveIfDrained();
        }
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
     * @param cut what to do with {@code result} then
     */
    <T extends @Nullable Object> void follow(
            Side side, long sentNanos, CompletionStage<T> answer, CompletableFuture<T> result, Runnable cut) {
        mutex.enter();
        try {
            if (side == Side.PRIMARY && !result.isDone()) {
                if (closed || course.side == Side.FALLBACK) {
                    mutex.later(cut);
                } else {
                    awaitingPrimary.add(cut);
                    mutex.later(() -> backend.needed(sentNanos));
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
                result.completeExceptionally(error);
            } else {
                result.complete(value);
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
            long now = backend.nanoTime();
            course = new Course(Side.FALLBACK, now);
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
            course = new Course(Side.PRIMARY, backend.nanoTime());
            List<FallbackGrant> draining = held.ofFallback();
            log.debug("The engine answers again; {} lock(s) are still held in fallback", draining.size());
            draining.forEach(grant -> mutex.later(grant::drain));
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
        if (inFallback && course.side == Side.PRIMARY && !held.anyOfFallback()) {
            inFallback = false;
            long duration = backend.nanoTime() - enteredNanos;
            mutex.later(() -> events.fallbackLeft(duration));
        }
    }

    /** When the present side last answered; before its first answer, when the other did until the switch. */
    long lastContactNanos() {
        Course now = course;
        long contact = backend.engine(now.side).lastContactNanos();
        if (contact - now.sinceNanos >= 0) {
            return contact;
        }
        long before = backend.engine(now.side.other()).lastContactNanos();
        return before - now.sinceNanos < 0 ? before : now.sinceNanos;
    }

    /**
     * Gives up what the engines will not answer.
     *
     * @return false if that was done before
     */
    boolean close() {
        mutex.enter();
        try {
            if (closed) {
                return false;
            }
            closed = true;
            for (FallbackClaim claim : parked) {
                mutex.later(() -> claim.fail(closedFailure(claim)));
            }
            parked.clear();
            unanswered.clear();
            awaitingPrimary.forEach(mutex::later);
            awaitingPrimary.clear();
            return true;
        } finally {
            mutex.leave();
        }
    }

    private static LockUnavailableException closedFailure(FallbackClaim claim) {
        String name = claim.request().name();
        return new LockUnavailableException(name, "Lock '" + name + "': its client was closed.");
    }
}
