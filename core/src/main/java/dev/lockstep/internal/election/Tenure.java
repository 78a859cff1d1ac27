package dev.lockstep.internal.election;

import dev.lockstep.Lease;
import dev.lockstep.LossReason;
import dev.lockstep.Term;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A term, from the election to its release. Its lease is released once, even if several callers release it; all of them
 * see how that ended.
 */
final class Tenure implements Term {
    /** Where the task of a term stands. */
    private enum Task {
        /** Its thread has not begun. */
        STARTING,
        RUNNING,
        /** It was interrupted, or will not begin. */
        STOPPING,
        RETURNED
    }

    private final Lease lease;
    private final long number;
    private final CompletableFuture<Void> over = new CompletableFuture<>();

    /** Guarded by the election. */
    private Task task = Task.STARTING;

    /** Interrupts the task; known while it runs. Guarded by the election. */
    private @Nullable Runnable interrupt;

    /** Ends as the release of the lease does. */
    private final CompletableFuture<Void> released = new CompletableFuture<>();

    private final AtomicBoolean releasing = new AtomicBoolean();

    /** Whether the task has closed it: only the first close reports how that ended. */
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Makes one.
     *
     * @throws dev.lockstep.LockLostException if the lease was lost already
     */
    Tenure(Lease lease) {
        this.lease = lease;
        this.number = lease.token();
    }

    // ---------------------------------------------------------------- its task, guarded by the election

    /** Whether the task runs or is about to, and was not stopped. */
    boolean isServing() {
        return task == Task.STARTING || task == Task.RUNNING;
    }

    boolean hasReturned() {
        return task == Task.RETURNED;
    }

    /** The task begins. False if it was stopped before: it must not run. */
    boolean begin(Runnable interruption) {
        if (task != Task.STARTING) {
            return false;
        }
        task = Task.RUNNING;
        interrupt = interruption;
        return true;
    }

    /** Interrupts the task, or keeps it from beginning. False if that was done before, or the task has returned. */
    boolean stop() {
        if (!isServing()) {
            return false;
        }
        task = Task.STOPPING;
        if (interrupt != null) {
            interrupt.run(); // while the task is known to run
        }
        return true;
    }

    /** The task has returned. True if it was stopped before. */
    boolean returned() {
        boolean stopped = task == Task.STOPPING;
        task = Task.RETURNED;
        interrupt = null;
        return stopped;
    }

    // ---------------------------------------------------------------- the lease

    @Override
    public String lockName() {
        return lease.lockName();
    }

    @Override
    public long token() {
        return number;
    }

    @Override
    public long token(String lockName) {
        return lease.token(lockName);
    }

    @Override
    public boolean isFallback() {
        return false;
    }

    @Override
    public boolean isValid() {
        return lease.isValid();
    }

    @Override
    public Duration remaining() {
        return lease.remaining();
    }

    @Override
    public void ensureValid() {
        lease.ensureValid();
    }

    @Override
    public void onLost(Consumer<LossReason> action) {
        lease.onLost(action);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return lease.unwrap(type);
    }

    /** Releases the lease, if nobody has done so. Ends as that does, for all callers. */
    CompletableFuture<Void> release() {
        if (releasing.compareAndSet(false, true)) {
            lease.closeAsync().whenComplete((done, error) -> {
                if (error == null) {
                    released.complete(null);
                } else {
                    released.completeExceptionally(error);
                }
                over.complete(null);
            });
        }
        return released.copy();
    }

    /** Done when the lease is released, or was found lost by its release. */
    CompletableFuture<Void> over() {
        return over;
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return closed.compareAndSet(false, true) ? release() : CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
        try {
            closeAsync().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw e;
        }
    }

    @Override
    public String toString() {
        return "Term[" + lockName() + ", " + number + (isValid() ? "]" : ", over]");
    }
}
