package dev.lockstep.internal.turnstile;

import dev.lockstep.LockLostException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.concurrent.Futures;
import dev.lockstep.spi.LockBackend;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Giving back one count of a hold, and the hold with the last of them. */
public final class Releases {
    private Releases() {}

    /** Gives back one count in the owner's thread, and waits for the engine's answer where it is asked. */
    public static void giveBack(Hold hold, boolean ofLease, TurnstileContext client) {
        long start = client.monotonicNanos();
        if (countDown(hold, ofLease) > 0) {
            return;
        }
        CompletableFuture<Boolean> answer = hold.turnstile.release(hold, client.requestTimeout());
        if (answer == null) {
            hold.reportEnd();
            return;
        }
        // The backend may have blocked for all of the time already.
        if (!Futures.await(answer, client.requestTimeoutNanos() - (client.monotonicNanos() - start))) {
            hold.turnstile.unconfirmed(hold);
            client.events().deliver();
        }
        hold.reportEnd();
        RuntimeException failure = failure(hold, answer);
        if (failure != null) {
            throw failure;
        }
    }

    /** Releases all counts of a hold at once, without waiting: nobody is there who could count them down. */
    public static void drop(Hold hold) {
        try {
            CompletableFuture<Boolean> answer = hold.turnstile.release(hold, LockBackend.DO_NOT_BLOCK);
            if (answer == null) {
                hold.reportEnd();
            } else {
                answer.whenComplete((known, error) -> hold.reportEnd());
            }
        } catch (IllegalMonitorStateException e) {
            // Lost meanwhile, and reported as that.
        }
    }

    /** Gives back one count without waiting. */
    public static CompletableFuture<Void> giveBackAsync(Hold hold, TurnstileContext client) {
        CompletableFuture<Boolean> answer;
        try {
            if (countDown(hold, true) > 0) {
                return CompletableFuture.completedFuture(null);
            }
            answer = hold.turnstile.release(hold, LockBackend.DO_NOT_BLOCK);
        } catch (LockLostException e) {
            return CompletableFuture.failedFuture(e);
        }
        if (answer == null) {
            hold.reportEnd();
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        var timer = client.scheduler().schedule(client.requestTimeoutNanos(), () -> {
            if (hold.turnstile.unconfirmed(hold)) {
                client.execute(() -> {
                    hold.reportEnd();
                    done.completeExceptionally(unconfirmed(hold, null));
                });
                client.events().deliver();
            }
        });
        answer.whenComplete((known, error) -> {
            timer.cancel();
            client.execute(() -> {
                hold.reportEnd();
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

    /** How many counts are left. */
    private static int countDown(Hold hold, boolean ofLease) {
        int left = hold.countDown(ofLease);
        if (left > 0 && hold.loss() != null) {
            throw hold.lostException();
        }
        return left;
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
