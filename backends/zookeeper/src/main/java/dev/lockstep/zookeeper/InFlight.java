package dev.lockstep.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Asks the same of many items, with a bounded number of questions on their way at the same time. Safe for use by many threads.
 *
 * @param <T> the items
 * @param <R> the answers
 */
final class InFlight<T, R extends @Nullable Object> {
    private final List<T> items;
    private final Function<T, CompletableFuture<R>> question;
    private final AtomicReferenceArray<@Nullable R> answers;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger open;
    private final CompletableFuture<List<R>> done = new CompletableFuture<>();

    private InFlight(List<T> items, Function<T, CompletableFuture<R>> question) {
        this.items = items;
        this.question = question;
        this.answers = new AtomicReferenceArray<@Nullable R>(items.size());
        this.open = new AtomicInteger(items.size());
    }

    /**
     * Asks all.
     *
     * @param atOnce how many questions may be on their way
     * @return the answers in the order of the items; the first failure, if there is one
     */
    static <T, R extends @Nullable Object> CompletableFuture<List<R>> askAll(
            List<T> items, int atOnce, Function<T, CompletableFuture<R>> question) {
        InFlight<T, R> all = new InFlight<>(items, question);
        if (items.isEmpty()) {
            all.done.complete(List.of());
        }
        for (int i = 0; i < atOnce && i < items.size(); i++) {
            all.askNext();
        }
        return all.done;
    }

    /** Asks one question after the other, until one is not answered at once: its answer leads on. */
    private void askNext() {
        while (!done.isDone()) {
            int index = next.getAndIncrement();
            if (index >= items.size()) {
                return;
            }
            CompletableFuture<R> answer = question.apply(items.get(index));
            if (!answer.isDone()) {
                answer.whenComplete((value, failure) -> {
                    answered(index, value, failure);
                    askNext();
                });
                return;
            }
            answer.whenComplete((value, failure) -> answered(index, value, failure));
        }
    }

    private void answered(int index, @Nullable R value, @Nullable Throwable failure) {
        if (failure != null) {
            done.completeExceptionally(failure);
            return;
        }
        answers.set(index, value);
        if (open.decrementAndGet() == 0) {
            done.complete(
                    IntStream.range(0, items.size()).mapToObj(answers::get).toList());
        }
    }
}
