package dev.lockstep.internal;

import dev.lockstep.Lease;
import dev.lockstep.LockCallback;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.LockstepException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes a lock, runs work, releases the lock. */
record Template(Client client, LockOptions options, Duration waitAtMost, boolean isFenced) implements LockTemplate {
    private static final Logger log = LoggerFactory.getLogger(Template.class);

    static final Duration DEFAULT_WAIT = Duration.ofSeconds(1);

    @Override
    public LockTemplate waitAtMost(Duration atMost) {
        return new Template(client, options, Objects.requireNonNull(atMost, "atMost"), isFenced);
    }

    @Override
    public LockTemplate fenced() {
        return new Template(client, options, waitAtMost, true);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work)
            throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        Optional<Lease> taken = client.lock(name, options).tryAcquire(waitAtMost);
        if (taken.isEmpty()) {
            throw new LockTimeoutException(
                    name, "Lock '" + name + "' was not free within " + waitAtMost + "; " + holders(name) + ".");
        }
        Lease lease = taken.get();
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

    /** What the work throws comes first; what the release throws is added to it. */
    private static void closeAfter(Throwable thrown, Lease lease) {
        try {
            lease.close();
        } catch (RuntimeException e) {
            thrown.addSuppressed(e);
        }
        if (thrown instanceof LockLostAfterWorkException inner) {
            // Thrown by a template inside the work, with its own result, which is not that of the work here.
            LockLostException lost = new LockLostException(inner.lockName(), inner.reason());
            lost.initCause(inner);
            throw lost;
        }
    }

    /** Releases after work that has a result, which nothing may lose. */
    private void close(Lease lease, @Nullable Object result) {
        try {
            lease.close();
        } catch (ReleaseNotConfirmedException e) {
            log.warn("{} The work has its result.", e.getMessage());
        } catch (LockLostException e) {
            if (!isFenced) {
                LockLostAfterWorkException lost = new LockLostAfterWorkException(e.lockName(), e.reason(), result);
                lost.initCause(e);
                throw lost;
            }
        }
    }

    private String holders(String name) {
        try {
            LockInfo info = client.inspect(name);
            return info.isFree()
                    ? "it is free by now"
                    : "held by "
                            + info.holders().stream()
                                    .map(entry -> entry.holder().toString())
                                    .collect(Collectors.joining(", "));
        } catch (LockstepException e) {
            return "its holder is unknown: " + e.getMessage();
        }
    }
}
