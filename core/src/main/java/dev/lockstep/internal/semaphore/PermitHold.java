package dev.lockstep.internal.semaphore;

import dev.lockstep.LossReason;
import dev.lockstep.internal.semaphore.SemaphoreHost.Event;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The permits that a call may get: their validity, loss and release. Whoever looks at them looks at the clock first. Safe for
 * use by many threads.
 */
final class PermitHold implements GrantListener {
    private static final Logger log = LoggerFactory.getLogger(PermitHold.class);

    private final SemaphoreHost host;
    private final PermitTerms terms;
    private final PermitState state;
    private final PermitObservation observation;
    private final Runnable onGone;

    /**
     * Makes the hold of a call that begins.
     *
     * @param onGone called when the engine knows nothing of the permits any more
     */
    PermitHold(
            SemaphoreHost host, PermitTerms terms, PermitState state, PermitObservation observation, Runnable onGone) {
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
        PermitCall.guarded(() -> grant().release(LockBackend.DO_NOT_BLOCK)).whenComplete((done, error) -> onGone.run());
    }

    void onLost(Consumer<LossReason> action) {
        isValid();
        state.onLost(action)
                .flatMap(PermitEnd::reason)
                .ifPresent(reason -> host.runLossAction(terms.name(), action, reason));
    }

    // ---------------------------------------------------------------- release

    /** Releases the permits. Done when the hold has its end; nothing happens if it is over. */
    CompletableFuture<Void> release(Duration block) {
        isValid();
        if (!state.release(host.scheduler().nanoTime())) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        PermitCall.guarded(() -> grant().release(block)).whenComplete((known, error) -> {
            ended(error != null ? PermitEnd.UNCONFIRMED : known ? PermitEnd.RELEASED : PermitEnd.lost(lossBefore()));
            onGone.run();
            done.complete(null);
        });
        return done;
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

    /** Lets everybody know how the hold has ended. */
    private void report(PermitEnd how, List<Consumer<LossReason>> actions) {
        long held = host.scheduler().nanoTime() - state.sinceNanos();
        switch (how.outcome()) {
            case RELEASED -> host.publish(Event.RELEASED, terms.name(), held, null);
            case UNCONFIRMED -> host.publish(Event.UNCONFIRMED, terms.name(), held, null);
            case LOST -> how.reason().ifPresent(reason -> reportLoss(reason, held, actions));
        }
        observation.holdEnded(how, token());
    }

    private void reportLoss(LossReason reason, long held, List<Consumer<LossReason>> actions) {
        log.warn(
                "Semaphore '{}': a permit was lost: {} ({}). It had been held for {} ms, with token {}",
                terms.name(),
                reason.explanation(),
                reason,
                held / 1_000_000,
                token());
        host.publish(Event.LOST, terms.name(), held, reason);
        actions.forEach(action -> host.runLossAction(terms.name(), action, reason));
    }
}
