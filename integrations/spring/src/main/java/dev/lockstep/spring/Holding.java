package dev.lockstep.spring;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockCallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The time between acquiring a lock and releasing it, and what the caller learns about its end (docs/adr/0009). */
final class Holding {
    private static final Logger log = LoggerFactory.getLogger(Holding.class);

    /** How many locks the engine is asked about, and for how long it is asked about another one. */
    private static final int ASKED = 10;

    private static final long ASKING_NANOS = TimeUnit.SECONDS.toNanos(1);

    private Holding() {}

    /** Runs work and releases the lease afterwards; in a caller's transaction, when that has ended. */
    static <T extends @Nullable Object, E extends Exception> T run(
            Lease lease, boolean fenced, boolean inTransaction, LockCallback<T, E> work) throws E {
        if (inTransaction) {
            return runInTransaction(lease, fenced, work);
        }
        T result;
        try {
            result = work.run(lease);
        } catch (Throwable thrown) {
            closeAfter(thrown, lease);
            throw thrown;
        }
        close(lease, fenced, result);
        return result;
    }

    private static <T extends @Nullable Object, E extends Exception> T runInTransaction(
            Lease lease, boolean fenced, LockCallback<T, E> work) throws E {
        ReleaseAfterTransaction release = ReleaseAfterTransaction.register(lease, fenced);
        T result;
        try {
            result = work.run(lease);
        } catch (Throwable thrown) {
            release.threw();
            throw thrown;
        }
        release.returned(result);
        return result;
    }

    /** The exception of the work comes first; that of the release is added to it. */
    static void closeAfter(Throwable thrown, Lease lease) {
        try {
            lease.close();
        } catch (RuntimeException e) {
            thrown.addSuppressed(e);
        }
        if (thrown instanceof LockLostAfterWorkException inner) {
            // Of a lock inside the work, with its own result, which is not that of the work here.
            LockLostException lost = new LockLostException(inner.lockName(), inner.reason());
            lost.initCause(inner);
            throw lost;
        }
    }

    /** Releases after work that has a result, which nothing may lose. */
    static void close(Lease lease, boolean fenced, @Nullable Object result) {
        try {
            lease.close();
        } catch (ReleaseNotConfirmedException | LockLostException e) {
            RuntimeException problem = problem(e, fenced, result);
            if (problem != null) {
                throw problem;
            }
        }
    }

    /**
     * The exception for the caller if the release went wrong after the work has returned; null if it gets its result.
     */
    static @Nullable RuntimeException problem(RuntimeException thrown, boolean fenced, @Nullable Object result) {
        if (thrown instanceof ReleaseNotConfirmedException) {
            log.warn("{} The work has its result.", thrown.getMessage());
            return null;
        }
        if (thrown instanceof LockLostException lost) {
            if (fenced) {
                return null;
            }
            LockLostAfterWorkException after = new LockLostAfterWorkException(lost.lockName(), lost.reason(), result);
            after.initCause(lost);
            return after;
        }
        return thrown;
    }

    /** Says that a lock was not free, and names its holders. */
    static LockTimeoutException busy(LockClient client, DistributedLock lock, Duration wait) {
        return new LockTimeoutException(
                lock.name(),
                "Lock '" + lock.name() + "' was not free within " + wait + "; " + holders(client, lock.names()) + ".");
    }

    /**
     * The holders of the first locks. Each is a request, so it asks about a few only, and stops when one is not
     * answered or a second has passed.
     */
    private static String holders(LockClient client, List<String> names) {
        List<String> holders = new ArrayList<>();
        long start = System.nanoTime();
        for (String name : names.subList(0, Math.min(ASKED, names.size()))) {
            if (System.nanoTime() - start >= ASKING_NANOS) {
                break;
            }
            try {
                holders.add(holders(client.inspect(name)));
            } catch (RuntimeException e) {
                holders.add("the holder of '" + name + "' is unknown: " + e.getMessage());
                break;
            }
        }
        int others = names.size() - holders.size();
        if (others > 0) {
            holders.add("it was not asked who holds the " + others + " more");
        }
        return String.join("; ", holders);
    }

    private static String holders(LockInfo info) {
        return info.isFree()
                ? "'" + info.name() + "' is free by now"
                : "'" + info.name() + "' is held by "
                        + info.holders().stream()
                                .map(entry -> entry.holder().toString())
                                .collect(Collectors.joining(", "));
    }
}
