package dev.lockstep.internal.semaphore;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.Futures;
import dev.lockstep.internal.semaphore.PermitResult.Busy;
import dev.lockstep.internal.semaphore.PermitResult.Failed;
import dev.lockstep.internal.semaphore.PermitResult.GaveUp;
import dev.lockstep.internal.semaphore.PermitResult.Held;
import dev.lockstep.internal.semaphore.SemaphoreHost.Event;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One call for permits: one claim's way through the engine. Safe for use by many threads. */
final class PermitCall {
    /*
     * Overview. PermitRequest is what the engine sees of the call, PermitState is its state, and PermitHold is the
     * resulting hold.
     *
     * The result of the call is known once. A call that gives up has its result when the engine has confirmed the
     * withdrawal, or has owed an answer for the request timeout; one that fails has it at once, and the withdrawal
     * continues.
     */

    /** How soon to look again whether the engine has answered a call whose time is up. */
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Semaphores semaphores;
    private final SemaphoreHost host;
    private final PermitTerms terms;
    private final long number;
    private final @Nullable Thread thread;
    private final long startNanos;
    private final long startMonotonicNanos;
    private final PermitObservation observation;
    private final PermitState state;
    private final PermitHold hold;
    private final PermitRequest request;
    private final CompletableFuture<PermitResult> result = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    PermitCall(Semaphores semaphores, PermitTerms terms) {
        this.semaphores = semaphores;
        this.host = semaphores.host();
        this.terms = terms;
        this.number = semaphores.newNumber();
        this.thread = terms.async() ? null : Thread.currentThread();
        this.startNanos = host.scheduler().nanoTime();
        this.startMonotonicNanos = host.scheduler().monotonicNanos();
        this.observation = PermitObservation.start(host, terms);
        this.state =
                new PermitState(terms.options().maxHold().map(Duration::toNanos).orElse(Long.MAX_VALUE / 2));
        this.hold = new PermitHold(host, terms, state, observation, this::gone);
        this.request = new PermitRequest(host, terms, number, startNanos, hold);
    }

    long number() {
        return number;
    }

    String name() {
        return terms.name();
    }

    PermitObservation observation() {
        return observation;
    }

    CompletableFuture<PermitResult> result() {
        return result;
    }

    PermitHold hold() {
        return hold;
    }

    // ---------------------------------------------------------------- asking

    /** Asks the engine. May block for its one round trip. */
    void start() {
        semaphores.add(this);
        Claim made = null;
        CompletionStage<Outcome> answer;
        try {
            made = host.backend().submit(request);
            answer = made.outcome();
        } catch (RuntimeException | Error e) {
            answer = CompletableFuture.failedFuture(e);
        }
        if (state.submitted(made)) {
            withdraw(made);
        }
        answer.whenComplete(this::answered);
        if (!result.isDone()) {
            // A call whose first answer is on its way waits when the engine has said so: see PermitHold.waiting().
            if (terms.mayWait() && made != null && made.mustWait()) {
                observation.waiting();
            }
            host.watchOutage(startNanos);
        }
    }

    private void answered(@Nullable Outcome outcome, @Nullable Throwable error) {
        if (outcome instanceof Outcome.Granted granted) {
            granted(granted.grant());
        } else if (outcome instanceof Outcome.Busy) {
            if (state.refused()) {
                forget();
                result.complete(refusal(host.scheduler().nanoTime()));
            }
        } else {
            giveUp(new Failed(() -> host.failure(terms.name(), error)));
        }
    }

    private void granted(Grant given) {
        long now = host.scheduler().nanoTime();
        if (!state.granted(given, now)) {
            return;
        }
        host.publish(Event.ACQUIRED, terms.name(), now - startNanos);
        hold.watchDeadline();
        result.complete(new Held(hold));
        hold.loseIfReported();
    }

    /** The answer to a call that the engine refused: unknown if one of this client may be the reason. */
    private PermitResult refusal(long now) {
        return semaphores.isOwed(terms.name(), now) ? new Failed(() -> host.unconfirmed(terms.name())) : new Busy();
    }

    // ---------------------------------------------------------------- waiting

    /** Waits in the calling thread for the result. */
    PermitResult await(boolean interruptible) throws InterruptedException {
        boolean interrupted = false;
        long bound = terms.mayWait() ? terms.waitNanos() : host.requestTimeout().toNanos();
        long endNanos = startMonotonicNanos + bound;
        while (!result.isDone()) {
            try {
                if (terms.waitNanos() == PermitTerms.NO_LIMIT) {
                    result.get();
                } else {
                    long left = endNanos - host.scheduler().monotonicNanos();
                    result.get(Math.max(left, 0), TimeUnit.NANOSECONDS);
                }
            } catch (TimeoutException e) {
                long next = isTimeUp() ? 2 * host.requestTimeout().toNanos() : LOOK_AGAIN_NANOS;
                endNanos = host.scheduler().monotonicNanos() + next;
            } catch (InterruptedException e) {
                interrupted = true;
                if (interruptible) {
                    giveUp(new GaveUp());
                }
            } catch (ExecutionException e) {
                throw new AssertionError("the result never fails", e);
            }
        }
        PermitResult known = result.join();
        if (known instanceof GaveUp) {
            throw new InterruptedException("Interrupted while acquiring semaphore '" + terms.name() + "'");
        }
        if (interrupted) {
            Thread.currentThread().interrupt(); // it came too late, or is not for this call
        }
        return known;
    }

    /** Gives the call up if its time is up and that can be answered; false if the engine's first answer may be on its way. */
    private boolean isTimeUp() {
        if (!state.isClaiming()) {
            return true;
        }
        Claim known = state.claim();
        long now = host.scheduler().nanoTime();
        long contact = host.backend().lastContactNanos();
        long timeout = host.requestTimeout().toNanos();
        boolean recent = contact - startNanos >= 0 || now - contact <= timeout;
        if (terms.mayWait() && recent && known != null && known.mustWait()) {
            giveUp(refusal(now));
            return true;
        }
        if (now - startNanos < timeout) {
            return false;
        }
        giveUp(new Failed(() -> host.unavailable(terms.name(), now - startNanos)));
        return true;
    }

    // ---------------------------------------------------------------- giving up

    /**
     * Gives the claim up. Nothing happens if the call has its result, or has given up before.
     *
     * @param answer the result: at once if it is a failure, otherwise when the engine has confirmed, or has owed an answer
     *     for the request timeout
     */
    void giveUp(PermitResult answer) {
        long now = host.scheduler().nanoTime();
        PermitState.Leaving leaving = state.giveUp(now);
        if (leaving == null) {
            return;
        }
        if (answer instanceof Failed) {
            result.complete(answer);
        } else {
            long patience = host.engineOwesSince(now) + host.requestTimeout().toNanos() - now;
            var timer = host.scheduler().schedule(Math.max(patience, 0), () -> result.complete(answer));
            gone.whenComplete((done, error) -> {
                timer.cancel();
                result.complete(answer);
            });
        }
        if (leaving.submitted()) {
            withdraw(leaving.claim());
        }
    }

    /** Null if the engine was not asked, since the call to it failed. */
    private void withdraw(@Nullable Claim known) {
        CompletionStage<Void> withdrawn = known == null
                ? CompletableFuture.completedFuture(null)
                : Futures.answerTo(() -> known.withdraw(LockBackend.DO_NOT_BLOCK));
        withdrawn.whenComplete((done, error) -> gone());
    }

    private void gone() {
        state.gone();
        forget();
    }

    /** The engine knows nothing of it. */
    void forget() {
        semaphores.remove(this);
        gone.complete(null);
    }

    // ---------------------------------------------------------------- for the client

    boolean isClaiming() {
        return state.isClaiming();
    }

    /** Whether the engine has not confirmed a release or withdrawal for the request timeout. */
    boolean isOwed(long now) {
        return state.isLeavingFor(host.requestTimeout().toNanos(), now);
    }

    /** Ends a wait without a deadline of its own that has seen no contact for too long; how long until that happens. */
    long checkOutage(long now, long answeredNanos) {
        long since = answeredNanos - startNanos > 0 ? answeredNanos : startNanos;
        boolean timed = terms.waitNanos() != PermitTerms.NO_LIMIT && !host.timedCallsFailFast();
        long left = timed ? Long.MAX_VALUE : host.patienceNanos() - Math.max(now - since, 0);
        if (left <= 0) {
            giveUp(new Failed(() -> host.unavailable(terms.name(), now - since)));
        }
        return left;
    }

    /** The client closes: a call that waits fails. */
    void closeWaiting() {
        giveUp(new Failed(() -> host.closedWhileWaiting(terms.name())));
    }

    /** The client closes: a permit is lost. Done when the engine knows nothing of this any more. */
    CompletableFuture<Void> closeHeld() {
        hold.lose(LossReason.CLIENT_CLOSED);
        return gone;
    }

    /** Adds this call to the waiters, or its permits to the holds. */
    void addTo(List<ClientSnapshot.Use> holds, List<ClientSnapshot.Use> waiters, long now) {
        if (state.isClaiming()) {
            waiters.add(PermitUse.of(terms.name(), thread, now - startNanos, 0));
        } else if (state.isHeld()) {
            holds.add(PermitUse.of(terms.name(), null, now - state.sinceNanos(), hold.token()));
        }
    }
}
