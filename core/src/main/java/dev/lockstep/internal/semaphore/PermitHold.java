package dev.lockstep.internal.semaphore;

import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.Futures;
import dev.lockstep.internal.semaphore.SemaphoreHost.Event;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The permits that a call may get: their validity, loss and release. Every method that reads them checks the clock
 * first. Safe for use by many threads.
 */
final class PermitHold implements GrantListener {
    private final SemaphoreHost host;
    private final PermitTerms terms;
    private final PermitState state;
    private final PermitObservation observation;
    private final Runnable onGone;

    /** Where the call was made; null unless the client looks for leaks. */
    private final @Nullable Throwable place;

    /** Notices that the handle has become unreachable; reachable as long as the permits are held. */
    @SuppressWarnings("unused") // kept, not read
    private volatile @Nullable PermitReference handle;

    /** Only used by the watch of leaks. */
    private boolean reportedLong;

    /**
     * Makes the hold of a call that begins.
     *
     * @param onGone called when the engine knows nothing of the permits any more
     */
    PermitHold(
            SemaphoreHost host, PermitTerms terms, PermitState state, PermitObservation observation, Runnable onGone) {
        this.place = host.longHold() == null ? null : new Throwable("acquired here");
        this.host = host;
        this.terms = terms;
        this.state = state;
        this.observation = observation;
        this.onGone = onGone;
    }

    SemaphoreHost host() {
        return host;
    }

    String name() {
        return terms.name();
    }

    Grant grant() {
        return state.grant();
    }

    long token() {
        return host.token(grant().token());
    }

    // ---------------------------------------------------------------- validity

    /** How long the permits are good; zero if they are over. */
    long remainingNanos() {
        return state.remainingNanos(host.scheduler().nanoTime());
    }

    boolean isValid() {
        long now = host.scheduler().nanoTime();
        if (state.remainingNanos(now) > 0) {
            return true;
        }
        checkDeadline(now);
        return false;
    }

    /** Loses what is past its deadline. */
    void checkDeadline(long now) {
        state.overdue(now).ifPresent(this::lose);
    }

    /** Asks the client to look again at the deadline, if the permits are held. */
    void watchDeadline() {
        state.heldUntilNanos().ifPresent(host::watchDeadline);
    }

    // ---------------------------------------------------------------- loss

    @Override
    public void lost(Grant ended, LossReason reason) {
        if (state.reportedLost(ended, reason)) {
            lose(reason);
        }
    }

    @Override
    public void wanted(Grant blocking) {
        // A permit is released by its holder alone.
    }

    /** Reported on the executor; a call that learns of it while it asks reports it itself: see {@link PermitCall#start()}. */
    @Override
    public void waiting() {
        if (terms.mayWait() && observation.isObserved()) {
            host.execute(observation::waiting);
        }
    }

    /** The call has its permits, whose loss the engine may have reported already. */
    void loseIfReported() {
        state.reportedLoss().ifPresent(this::lose);
    }

    /** Ends the hold as lost, and lets the backend clear up. Nothing happens if it is over. */
    void lose(LossReason reason) {
        List<Consumer<LossReason>> actions = state.lose(reason, host.scheduler().nanoTime());
        if (actions == null) {
            return;
        }
        report(PermitEnd.lost(reason), actions);
        reportEnd();
        Futures.answerTo(() -> grant().release(LockBackend.DO_NOT_BLOCK)).whenComplete((done, error) -> onGone.run());
    }

    void onLost(Consumer<LossReason> action) {
        isValid();
        state.onLost(action)
                .flatMap(PermitEnd::reason)
                .ifPresent(reason -> host.runLossAction(terms.name(), action, reason));
    }

    // ---------------------------------------------------------------- release

    /**
     * Releases the permits. Nothing happens if they are over.
     *
     * @return done when the hold has its end, which the caller is to {@linkplain #reportEnd() report}
     */
    CompletableFuture<Void> release(Duration block) {
        isValid();
        if (!state.release(host.scheduler().nanoTime())) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        Futures.answerTo(() -> grant().release(block)).whenComplete((known, error) -> {
            ended(error != null ? PermitEnd.UNCONFIRMED : known ? PermitEnd.RELEASED : PermitEnd.lost(lossBefore()));
            onGone.run();
            done.complete(null);
        });
        return done;
    }

    /** Releases the permits, for which nobody waits. */
    void drop() {
        release(LockBackend.DO_NOT_BLOCK).whenComplete((done, error) -> host.execute(this::reportEnd));
    }

    /** Why the engine had ended what was to be released. */
    private LossReason lossBefore() {
        return state.reportedLoss().orElseGet(() -> {
            boolean past = host.scheduler().nanoTime() - grant().validUntilNanos() >= 0;
            return past ? LossReason.EXPIRED : LossReason.REVOKED;
        });
    }

    /** The engine has not confirmed the release in time. */
    void unconfirmed() {
        ended(PermitEnd.UNCONFIRMED);
    }

    /** The end of the hold; empty while it is held, or its release is on its way. */
    Optional<PermitEnd> end() {
        return state.end();
    }

    /** The hold has its end, if it had none. */
    private void ended(PermitEnd how) {
        List<Consumer<LossReason>> actions = state.end(how);
        if (actions != null) {
            report(how, actions);
        }
    }

    /** Lets listeners, and the holder if it has lost the permits, know how the hold has ended. */
    private void report(PermitEnd how, List<Consumer<LossReason>> actions) {
        long held = host.scheduler().nanoTime() - state.sinceNanos();
        switch (how.outcome()) {
            case RELEASED -> host.publish(Event.RELEASED, terms.name(), held);
            case UNCONFIRMED -> host.publish(Event.UNCONFIRMED, terms.name(), held);
            case LOST -> how.reason().ifPresent(reason -> reportLoss(reason, held, actions));
        }
    }

    private void reportLoss(LossReason reason, long held, List<Consumer<LossReason>> actions) {
        host.lost(terms.name(), reason, token(), held);
        actions.forEach(action -> host.runLossAction(terms.name(), action, reason));
    }

    /** Lets observers know of the end of the hold, if it has one; in the thread that releases, or on the executor. */
    void reportEnd() {
        state.end().ifPresent(how -> observation.holdEnded(how, token()));
    }

    // ---------------------------------------------------------------- leaks

    /** From now on it is noticed if nobody can reach the handle. */
    void noticedBy(PermitReference reference) {
        handle = reference;
    }

    /** The handle is unreachable: releases its permits. */
    void abandon(long now) {
        if (state.isHeld()) {
            host.abandoned(terms.name(), token(), now - state.sinceNanos(), place);
            drop();
        }
    }

    /** Reports once that the permits are held for long. */
    void reportIfLong(long now, long longNanos) {
        if (!reportedLong && state.isHeld() && now - state.sinceNanos() >= longNanos) {
            reportedLong = true;
            host.lastsLong(terms.name(), token(), now - state.sinceNanos(), place);
        }
    }
}
