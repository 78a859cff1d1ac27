package dev.lockstep.internal;

import dev.lockstep.LockLostException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Giving back one count of a hold, and the hold with the last of them. */
final class Releases {
    private Releases() {}

    /** Gives back one count in the owner's thread, and waits for the engine's answer where it is asked. */
    static void giveBack(Hold hold, boolean ofLease, Client client) {
        long start = client.nanoTime();
        CompletableFuture<Boolean> answer = countDown(hold, ofLease, client.requestTimeout());
        if (answer == null) {
            return;
        }
        // The backend may have blocked for all of the time already.
        if (!Futures.await(answer, client.requestTimeoutNanos() - (client.nanoTime() - start))) {
            throw unconfirmed(hold, null);
        }
        try {
            check(hold, answer.join());
        } catch (CompletionException e) {
            throw unconfirmed(hold, e.getCause());
        }
    }

    /** Gives back one count without waiting. */
    static CompletableFuture<Void> giveBackAsync(Hold hold, Client client) {
        CompletableFuture<Boolean> answer;
        try {
            answer = countDown(hold, true, LockBackend.DO_NOT_BLOCK);
        } catch (LockLostException e) {
            return CompletableFuture.failedFuture(e);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (answer == null) {
            done.complete(null);
            return done;
        }
        var timer = client.scheduler()
                .schedule(
                        client.requestTimeoutNanos(),
                        () -> client.execute(() -> done.completeExceptionally(unconfirmed(hold, null))));
        answer.whenComplete((released, error) -> {
            timer.cancel();
            client.execute(() -> {
                if (error != null) {
                    done.completeExceptionally(unconfirmed(hold, error));
                } else if (released) {
                    done.complete(null);
                } else {
                    done.completeExceptionally(new LockLostException(hold.turnstile.name(), engineReason(hold)));
                }
            });
        });
        return done;
    }

    private static @Nullable CompletableFuture<Boolean> countDown(Hold hold, boolean ofLease, Duration blockAtMost) {
        int left = hold.countDown(ofLease);
        if (left > 0) {
            if (hold.loss() != null) {
                throw hold.lostException();
            }
            return null;
        }
        return hold.turnstile.release(hold, blockAtMost);
    }

    private static void check(Hold hold, boolean released) {
        if (!released) {
            throw new LockLostException(hold.turnstile.name(), engineReason(hold));
        }
    }

    /** Why the engine did not know a grant that was given back in time. */
    private static LossReason engineReason(Hold hold) {
        LossReason told = hold.passage.toldLoss();
        return told == null ? LossReason.REVOKED : told;
    }

    private static ReleaseNotConfirmedException unconfirmed(Hold hold, @Nullable Throwable cause) {
        String name = hold.turnstile.name();
        return new ReleaseNotConfirmedException(
                name,
                "Lock '" + name + "': the work under it is done, but "
                        + hold.turnstile.client().engine()
                        + " did not confirm the release. It goes on in the background; the lock is free after the ttl"
                        + " at the latest.",
                cause);
    }
}
