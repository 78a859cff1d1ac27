package dev.lockstep.redis.internal;

import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The result of one request of several: its answer, or why there is none. */
public final class Reply<T> {
    private final @Nullable T answer;
    private final @Nullable Failure failure;

    private Reply(@Nullable T answer, @Nullable Failure failure) {
        this.answer = answer;
        this.failure = failure;
    }

    public static <T> Reply<T> of(T answer) {
        return new Reply<>(answer, null);
    }

    public static <T> Reply<T> failed(Failure failure) {
        return new Reply<>(null, failure);
    }

    /** The answer. */
    public T get() throws Failure {
        if (failure != null) {
            throw failure;
        }
        return Objects.requireNonNull(answer);
    }

    /** The same with another view of the answer. */
    public <R> Reply<R> map(Function<T, R> view) {
        return answer != null ? of(view.apply(answer)) : new Reply<>(null, failure);
    }
}
