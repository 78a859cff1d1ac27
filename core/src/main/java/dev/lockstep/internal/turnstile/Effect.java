package dev.lockstep.internal.turnstile;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The result of a decision, which {@link Actions} performs when the mutex has been left. */
sealed interface Effect
        permits Effect.Submit,
                Effect.Withdraw,
                Effect.Release,
                HoldRelease,
                Effect.Discard,
                Effect.Downgrade,
                Effect.RecordWait,
                Effect.Wake,
                Effect.Complete,
                Effect.WatchOutage,
                Effect.CheckIdle,
                Effect.CheckKept,
                Effect.EndLeaving,
                Effect.CompleteLater,
                Effect.CancelTimer,
                Effect.RunLossAction,
                Effect.ReportLoss,
                Effect.Answer,
                Effect.Publish,
                Effect.ReportHandOff,
                Effect.ReportWait,
                Effect.ReportEnd {
    void perform(Actions actions);

    /** Ask the engine for the lock. */
    record Submit(Passage passage) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.submit(passage);
        }
    }

    /** Withdraw a claim from the engine. */
    record Withdraw(Passage passage, Claim claim) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.withdraw(passage, claim);
        }
    }

    /**
     * Release a grant in the engine; see {@link HoldRelease} for one whose last holder waits for that.
     *
     * @param rest how long the engine keeps it held for the rest of a minimum time; zero to free it at once
     */
    record Release(Passage passage, Duration rest) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.release(passage, rest);
        }
    }

    /** Let the backend clear up a grant that was lost. */
    record Discard(Passage passage) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.discard(passage);
        }
    }

    /** Let other clients' readers in. */
    record Downgrade(Passage passage, CompletableFuture<Boolean> done) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.downgrade(passage, done);
        }
    }

    /** Let the engine store beside a grant what its holder waits for, or that it waits no longer. */
    record RecordWait(Passage passage, Optional<LockInfo.Wait> waitsFor) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.recordWait(passage, waitsFor);
        }
    }

    /** Wake a thread that waits. */
    record Wake(@Nullable Thread thread) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.wake(thread);
        }
    }

    /** Complete a future that a part of the core waits for. */
    record Complete(CompletableFuture<Void> future) implements Effect {
        @Override
        public void perform(Actions actions) {
            future.complete(null);
        }
    }

    /** Look for an outage, because a call without a thread waits. */
    record WatchOutage(long sinceNanos) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.watchOutage(sinceNanos);
        }
    }

    /** Look later whether the idle time of a passage is over. */
    record CheckIdle(Passage passage, Duration sticky, long delayNanos) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.checkIdle(passage, sticky, delayNanos);
        }
    }

    /** Look later whether the minimum time of a passage is over. */
    record CheckKept(Passage passage, long delayNanos) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.checkKept(passage, delayNanos);
        }
    }

    /** Give a call that gave up its result after some time, whatever is left of it at the engine. */
    record EndLeaving(Waiter waiter, long delayNanos) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.endLeaving(waiter, delayNanos);
        }
    }

    /** Complete a future after some time, unless it is done before. */
    record CompleteLater(CompletableFuture<Void> future, long delayNanos) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.completeLater(future, delayNanos);
        }
    }

    /** Cancel a timer. */
    record CancelTimer(Scheduler.Timer timer) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.cancel(timer);
        }
    }

    /** Notify the holder that it has lost the lock. */
    record RunLossAction(Consumer<LossReason> action, LossReason reason) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.runLossAction(action, reason);
        }
    }

    /** Let the log and flight recordings know of a loss. */
    record ReportLoss(Hold hold, LossReason reason) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.reportLoss(hold, reason);
        }
    }

    /** Give an asynchronous call its result. */
    record Answer(Consumer<Result> callback, Result result) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.answer(callback, result);
        }
    }

    /** Deliver published events to listeners. */
    record Publish() implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.publish();
        }
    }

    /** Let observers know of a hand-off. */
    record ReportHandOff(LockMode mode, LockOptions options) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.reportHandOff(mode, options);
        }
    }

    /** Let observers know that a call waits. */
    record ReportWait(Runnable report) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.reportWait(report);
        }
    }

    /** Let observers know of the end of a hold. */
    record ReportEnd(Hold hold) implements Effect {
        @Override
        public void perform(Actions actions) {
            hold.reportEnd();
        }
    }
}
