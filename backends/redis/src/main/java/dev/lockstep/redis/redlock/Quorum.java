package dev.lockstep.redis.redlock;

import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The combined answer of several servers, as soon as enough of them have answered. Safe for use by many threads. */
final class Quorum {
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private Quorum() {}

    /** The first answers, as many as a majority; the last failure if there cannot be so many. */
    static <T> CompletableFuture<List<T>> of(List<CompletableFuture<T>> answers, int majority) {
        CompletableFuture<List<T>> enough = new CompletableFuture<>();
        List<T> got = new ArrayList<>();
        int[] failed = new int[1];
        for (CompletableFuture<T> answer : answers) {
            answer.whenComplete((value, failure) -> {
                List<T> complete = null;
                boolean hopeless = false;
                synchronized (got) {
                    if (failure == null) {
                        got.add(value);
                        complete = got.size() == majority ? List.copyOf(got) : null;
                    } else {
                        hopeless = ++failed[0] == answers.size() - majority + 1;
                    }
                }
                if (complete != null) {
                    enough.complete(complete);
                } else if (hopeless && failure != null) {
                    enough.completeExceptionally(failure);
                }
            });
        }
        return enough;
    }

    /** All answers, or if some are late those that came until some time after the majority's. */
    static <T> CompletableFuture<List<T>> most(List<CompletableFuture<T>> answers, int majority, Scheduler scheduler) {
        CompletableFuture<List<T>> most = new CompletableFuture<>();
        of(answers, majority).whenComplete((enough, failure) -> {
            if (failure != null) {
                most.completeExceptionally(failure);
                return;
            }
            Scheduler.Timer timer = scheduler.schedule(PATIENCE_NANOS, () -> most.complete(good(answers)));
            CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).whenComplete((all, some) -> {
                timer.cancel();
                most.complete(good(answers));
            });
        });
        return most;
    }

    private static <T> List<T> good(List<CompletableFuture<T>> answers) {
        return answers.stream()
                .filter(answer -> answer.isDone() && !answer.isCompletedExceptionally())
                .map(CompletableFuture::join)
                .toList();
    }

    /** Why an answer is not a good one; null if it is, or is not there yet. */
    static @Nullable Throwable failureOf(CompletableFuture<?> answer) {
        return answer.handle((good, failure) -> failure).getNow(null);
    }

    /** The answer of a majority; if most have answered and do not agree, the caller's own opinion. */
    static CompletableFuture<Boolean> vote(
            List<CompletableFuture<Boolean>> answers, int majority, BooleanSupplier own, Scheduler scheduler) {
        CompletableFuture<Boolean> verdict = new CompletableFuture<>();
        boolean opinion = own.getAsBoolean(); // now, before it has changed
        int[] counts = new int[2];
        for (CompletableFuture<Boolean> answer : answers) {
            answer.thenAccept(yes -> {
                int same;
                synchronized (counts) {
                    same = ++counts[yes ? 1 : 0];
                }
                if (same >= majority) {
                    verdict.complete(yes);
                }
            });
        }
        of(answers, majority).whenComplete((most, failure) -> {
            if (failure != null) {
                verdict.completeExceptionally(failure);
            } else if (!verdict.isDone()) {
                scheduler.schedule(PATIENCE_NANOS, () -> verdict.complete(opinion));
            }
        });
        return verdict;
    }
}
