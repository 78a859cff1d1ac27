package dev.lockstep.internal.lock;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockCallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.turnstile.TurnstileContext;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Acquires a lock, runs work, releases the lock. */
public record Template(
        LockClient client, TurnstileContext context, LockOptions options, Duration waitAtMost, boolean isFenced)
        implements LockTemplate {
    private static final Logger log = LoggerFactory.getLogger(Template.class);

    public static final Duration DEFAULT_WAIT = Duration.ofSeconds(1);

    @Override
    public LockTemplate waitAtMost(Duration atMost) {
        return new Template(client, context, options, Objects.requireNonNull(atMost, "atMost"), isFenced);
    }

    @Override
    public LockTemplate fenced() {
        return new Template(client, context, options, waitAtMost, true);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work)
            throws E, InterruptedException {
        return execute(client.lock(name, options), work);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(DistributedLock lock, LockCallback<T, E> work)
            throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        Lease lease = lock.tryAcquire(waitAtMost).orElseThrow(() -> timeout(lock));
        T result;
        try {
            result = work.run(lease);
        } catch (Throwable thrown) {
            closeAfter(thrown, lease);
            throw thrown;
        }
        close(lease, result);
        return result;
    }

    @Override
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            String name, Function<Lease, ? extends CompletionStage<T>> work) {
        return executeAsync(client.lock(name, options), work);
    }

    @Override
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            DistributedLock lock, Function<Lease, ? extends CompletionStage<T>> work) {
        return new AsyncExecution<>(this, lock, work).start();
    }

    private LockTimeoutException timeout(DistributedLock lock) {
        return new LockTimeoutException(
                lock.name(),
                "Lock '" + lock.name() + "' was not free within " + waitAtMost + "; "
                        + Holders.of(context, lock.names()) + ".");
    }

    /** The exception of the work comes first; that of the release is added to it. */
    private static void closeAfter(Throwable thrown, Lease lease) {
        try {
            lease.close();
        } catch (RuntimeException e) {
            thrown.addSuppressed(e);
        }
        Throwable own = withoutResult(thrown);
        if (own != thrown) {
            throw (LockLostException) own;
        }
    }

    /** A template inside the work may have thrown its own result, which is not that of the work here. */
    static Throwable withoutResult(Throwable thrown) {
        if (thrown instanceof LockLostAfterWorkException inner) {
            LockLostException lost = new LockLostException(inner.lockName(), inner.reason());
            lost.initCause(inner);
            return lost;
        }
        return thrown;
    }

    /** Releases after work that has a result, which nothing may lose. */
    private void close(Lease lease, @Nullable Object result) {
        try {
            lease.close();
        } catch (ReleaseNotConfirmedException | LockLostException e) {
            Throwable failure = afterWork(e, result);
            if (failure instanceof LockLostException lost) {
                throw lost;
            }
        }
    }

    /**
     * The exception for a release that failed after work that has a result; null if the caller just gets the result.
     */
    @Nullable
    Throwable afterWork(Throwable release, @Nullable Object result) {
        if (release instanceof ReleaseNotConfirmedException) {
            log.warn("{} The work has its result.", release.getMessage());
            return null;
        }
        if (release instanceof LockLostException e) {
            if (isFenced) {
                return null;
            }
            LockLostAfterWorkException lost = new LockLostAfterWorkException(e.lockName(), e.reason(), result);
            lost.initCause(e);
            return lost;
        }
        return release;
    }
}
