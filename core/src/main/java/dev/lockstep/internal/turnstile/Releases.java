package dev.lockstep.internal.turnstile;

import dev.lockstep.LockLostException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.spi.Answers;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Releases one count of a hold, and the hold with the last of them. */
public final class Releases {
    private Releases() {}

    /** The part of a hold that is released. */
    public enum Part {
        /** One count of {@code lock()}. */
        LOCK,
        /** One count of a lease handle. */
        LEASE,
        /** All of it: it has no counts yet. */
        ALL;

        /** Counts the hold down. False if counts are left, so that it stays. */
        private boolean isLast(Hold hold) {
            int left = switch (this) {
                case LOCK -> hold.uncountLock();
                case LEASE -> hold.uncountLease();
                case ALL -> 0;
            };
            if (left > 0 && hold.loss() != null) {
                throw hold.lostException();
            }
            return left <= 0;
        }
    }

    /** Releases a part of a hold in the owner's thread, and waits for the engine's answer where it is asked. */
    public static void release(Hold hold, Part part, TurnstileContext client) {
        long start = client.monotonicNanos();
        if (!part.isLast(hold)) {
            return;
        }
        CompletableFuture<Boolean> answer = hold.turnstile.release(hold, client.requestTimeout());
        // The backend may have blocked for all of the time already.
        long left = client.requestTimeoutNanos() - (client.monotonicNanos() - start);
        RuntimeException failure = await(hold, answer, left, client);
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Waits for the engine's answer, where it was asked. Returns the exception for the owner of the hold; null if it
     * was released.
     */
    private static @Nullable RuntimeException await(
            Hold hold, @Nullable CompletableFuture<Boolean> answer, long nanos, TurnstileContext client) {
        if (answer == null) {
            hold.reportEnd();
            return null;
        }
        if (!answer.isDone() && !Answers.await(answer, Duration.ofNanos(nanos))) {
            hold.turnstile.unconfirmed(hold);
            client.events().deliver();
        }
        hold.reportEnd();
        return failure(hold, answer);
    }

    /** Releases all counts of a hold at once, without waiting: no owner is left that could count them down. */
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

    /** Releases one count of a lease handle without waiting. */
    public static CompletableFuture<Void> releaseAsync(Hold hold, TurnstileContext client) {
        CompletableFuture<Boolean> answer;
        try {
            if (!Part.LEASE.isLast(hold)) {
                return CompletableFuture.completedFuture(null);
            }
            answer = hold.turnstile.release(hold, LockBackend.DO_NOT_BLOCK);
        } catch (LockLostException e) {
            return CompletableFuture.failedFuture(e);
        }
        return follow(hold, answer, client);
    }

    /** Brings the engine's answer, where it was asked, to the owner of a hold that does not wait for it. */
    private static CompletableFuture<Void> follow(
            Hold hold, @Nullable CompletableFuture<Boolean> answer, TurnstileContext client) {
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

    // ---------------------------------------------------------------- several holds

    /**
     * Releases a part of each of several holds in the owner's thread, in the opposite order and with few requests, and
     * waits for the engine's answers where it is asked.
     */
    public static void releaseAll(List<Hold> holds, Part part, TurnstileContext client, ReleaseFailures failures) {
        releaseAll(holds, part, client.requestTimeoutNanos(), client, failures);
    }

    /**
     * The same after a call that failed.
     *
     * @param unavailable whether it failed because the engine was unavailable: then the call has already waited for the engine
     */
    public static void undoAll(List<Hold> holds, Part part, boolean unavailable, TurnstileContext client) {
        long patienceNanos = unavailable ? client.patienceLeftNanos() : client.requestTimeoutNanos();
        // The caller learns that it has no lock; that a part of it was lost or not confirmed is no news then.
        releaseAll(holds, part, patienceNanos, client, new ReleaseFailures());
    }

    private static void releaseAll(
            List<Hold> holds, Part part, long patienceNanos, TurnstileContext client, ReleaseFailures failures) {
        int size = client.backend().batchSize();
        long left = patienceNanos;
        for (int end = holds.size(); end > 0; end -= size) {
            List<Hold> batch = holds.subList(Math.max(0, end - size), end);
            long start = client.monotonicNanos();
            if (!releaseTogether(batch, part, Duration.ofNanos(left), client, failures)) {
                // Unanswered requests use up the time: one request timeout is enough for all.
                left = Math.max(left - (client.monotonicNanos() - start), 0);
            }
        }
    }

    /** Whether the engine has answered for all of them in time. */
    private static boolean releaseTogether(
            List<Hold> holds, Part part, Duration patience, TurnstileContext client, ReleaseFailures failures) {
        long start = client.monotonicNanos();
        List<HoldRelease> releases = new ArrayList<>(holds.size());
        ReleaseBatch batch = new ReleaseBatch(client, patience);
        try {
            for (int i = holds.size() - 1; i >= 0; i--) {
                try {
                    begin(holds.get(i), part, batch, releases);
                } catch (RuntimeException e) {
                    failures.add(e);
                }
            }
        } finally {
            batch.send();
        }
        boolean answered = true;
        for (HoldRelease release : releases) {
            long left = patience.toNanos() - (client.monotonicNanos() - start);
            RuntimeException failure = await(release.hold, release.answer(), left, client);
            answered &= !(failure instanceof ReleaseNotConfirmedException);
            if (failure != null) {
                failures.add(failure);
            }
        }
        return answered;
    }

    /** Likewise without waiting. The future is done when the engine has answered for all, or has not in time. */
    public static List<CompletableFuture<Void>> releaseAllAsync(List<Hold> holds, Part part, TurnstileContext client) {
        List<CompletableFuture<Void>> closing = new ArrayList<>(holds.size());
        int size = client.backend().batchSize();
        for (int end = holds.size(); end > 0; end -= size) {
            releaseTogetherAsync(holds.subList(Math.max(0, end - size), end), part, client, closing);
        }
        return closing;
    }

    private static void releaseTogetherAsync(
            List<Hold> holds, Part part, TurnstileContext client, List<CompletableFuture<Void>> closing) {
        List<HoldRelease> releases = new ArrayList<>(holds.size());
        ReleaseBatch batch = new ReleaseBatch(client, LockBackend.DO_NOT_BLOCK);
        try {
            for (int i = holds.size() - 1; i >= 0; i--) {
                try {
                    begin(holds.get(i), part, batch, releases);
                } catch (LockLostException e) {
                    closing.add(CompletableFuture.failedFuture(e));
                }
            }
        } finally {
            batch.send();
        }
        for (HoldRelease release : releases) {
            closing.add(follow(release.hold, release.answer(), client));
        }
    }

    private static void begin(Hold hold, Part part, ReleaseBatch batch, List<HoldRelease> releases) {
        if (part.isLast(hold)) {
            HoldRelease release = new HoldRelease(hold, batch.blockAtMost(), batch);
            hold.turnstile.release(release);
            releases.add(release);
        }
    }

    // ---------------------------------------------------------------- what they share

    /** The exception for the owner of a hold that the engine was asked to release; null if it was released. */
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
                        + " did not confirm the release. It continues in the background; the lock is free after the ttl"
                        + " at the latest.",
                cause);
    }
}
