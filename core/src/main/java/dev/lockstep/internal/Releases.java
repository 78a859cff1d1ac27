package dev.lockstep.internal;

import dev.lockstep.LockLostException;
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
        long start = client.monotonicNanos();
        CompletableFuture<Boolean> answer = countDown(hold, ofLease, client.requestTimeout());
        if (answer == null) {
            return;
        }
        // The backend may have blocked for all of the time already.
        if (!Futures.await(answer, client.requestTimeoutNanos() - (client.monotonicNanos() - start))) {
            hold.turnstile.unconfirmed(hold);
            client.events().deliver();
        }
        RuntimeException failure = failure(hold, answer);
        if (failure != null) {
            throw failure;
        }
    }

    /** Releases all counts of a hold at once, without waiting: nobody is there who could count them down. */
    static void drop(Hold hold) {
        try {
            hold.turnstile.release(hold, LockBackend.DO_NOT_BLOCK);
        } catch (IllegalMonitorStateException e) {
            // Lost meanwhile, and reported as that.
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
        var timer = client.scheduler().schedule(client.requestTimeoutNanos(), () -> {
            if (hold.turnstile.unconfirmed(hold)) {
                client.execute(() -> done.completeExceptionally(unconfirmed(hold, null)));
                client.events().deliver();
            }
        });
        answer.whenComplete((known, error) -> {
            timer.cancel();
            client.execute(() -> {
                RuntimeException failure = failure(hold, answer);
                if (failure == null) {
                    done.complete(null);
                } else {
                    done.completeExceptionally(failure);
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

    /** What its owner hears of the end of a hold that the engine was asked about; null if it was released. */
    private static @Nullable RuntimeException failure(Hold hold, CompletableFuture<Boolean> answer) {
        if (hold.loss() != null) {
            return hold.lostException();
        }
        if (!hold.isUnconfirmed()) {
            return null;
        }
        return unconfirmed(hold, answer.isCompletedExceptionally() ? cause(answer) : null);
    }

    private static @Nullable Throwable cause(CompletableFuture<Boolean> failed) {
        try {
            failed.join();
            return null;
        } catch (CompletionException e) {
            return e.getCause();
        }
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
