package dev.lockstep.internal.turnstile;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What follows from a decision, and is done by {@link Actions} when the mutex has been left. */
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
                Effect.RunLossAction,
                Effect.LogLoss,
                Effect.Answer,
                Effect.Publish,
                Effect.ReportHandOff,
                Effect.ReportEnd {
    void perform(Actions actions);

    /** Ask the engine for the lock. */
    record Submit(Passage passage) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.submit(passage);
        }
    }

    /** Give a claim up at the engine. */
    record Withdraw(Passage passage, Claim claim) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.withdraw(passage, claim);
        }
    }

    /** Release a grant at the engine; see {@link HoldRelease} for one whose last holder waits for that. */
    record Release(Passage passage) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.release(passage);
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

    /** Complete what somebody waits for inside the core. */
    record Complete(CompletableFuture<Void> future) implements Effect {
        @Override
        public void perform(Actions actions) {
            future.complete(null);
        }
    }

    /** Look for an outage, because somebody waits who has no thread. */
    record WatchOutage(long sinceNanos) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.watchOutage(sinceNanos);
        }
    }

    /** Tell the holder that it has lost the lock. */
    record RunLossAction(Consumer<LossReason> action, LossReason reason) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.runLossAction(action, reason);
        }
    }

    /** Log a loss. */
    record LogLoss(Hold hold, LossReason reason) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.logLoss(hold, reason);
        }
    }

    /** Give an asynchronous call its result. */
    record Answer(Consumer<Result> callback, Result result) implements Effect {
        @Override
        public void perform(Actions actions) {
            actions.answer(callback, result);
        }
    }

    /** Let listeners hear of what was published. */
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

    /** Let observers know of the end of a hold. */
    record ReportEnd(Hold hold) implements Effect {
        @Override
        public void perform(Actions actions) {
            hold.reportEnd();
        }
    }
}
