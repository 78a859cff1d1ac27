package dev.lockstep.internal.election;

import dev.lockstep.Leader;
import dev.lockstep.LeaderElection;
import dev.lockstep.LeaderTask;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.spi.Scheduler;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A candidate. */
public final class Election implements LeaderElection {
    /*
     * Overview. A candidate goes around in a circle, and is in one state at a time:
     *
     *   STANDING ──▶ LEADING ──▶ LEAVING ──▶ STANDING …      and from anywhere ──▶ ENDED
     *      └──▶ RESTING ──▶ STANDING
     *
     * STANDING: an acquireAsync() of the lock is on its way. LEADING: it has given a lease, and the task of the term is
     * about to run, runs, or was interrupted. LEAVING: the task has returned, and the lease is being released. RESTING: the
     * engine or the task has failed, and a timer makes it stand again.
     *
     * So a candidate stands only after its last task has returned, and never has two claims. A standing candidate has no
     * thread. Each term has a thread of its own: an interrupt that comes late dies with it.
     *
     * Loss, resign() and close() all stop the task. A loss that comes before the thread has begun is seen by begin(), which
     * then does not let the task run. After resign() or close(), the lease is released when the task has returned, or by a
     * timer after the request timeout.
     *
     * Everything below is guarded by this. Nothing that may run others' code is called while it is held.
     */
    private enum State {
        STANDING,
        LEADING,
        LEAVING,
        RESTING,
        ENDED
    }

    private static final Logger log = LoggerFactory.getLogger(Election.class);

    private final String name;
    private final LeaderTask task;
    private final ElectionHost host;
    private final Supplier<Optional<Leader>> leader;
    private final LeaderWatch watch;

    /** Of the thread that made the candidate: its tasks log with it. */
    private final CallerContext caller = CallerContext.ofCaller();

    /** Done when another candidate of the name may stand. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    private State state = State.STANDING;
    private boolean closed;
    private @Nullable CompletableFuture<Lease> claim;
    private @Nullable Tenure tenure;
    private Scheduler.@Nullable Timer rest;
    private @Nullable Thread taskThread;

    /** In a row. Used by one step of the circle at a time, without the mutex. */
    private volatile int engineFailures;

    private volatile int taskFailures;

    /**
     * Makes a candidate, which does not stand yet.
     *
     * @param leader asks the engine, in the calling thread
     */
    public Election(String name, LeaderTask task, ElectionHost host, Supplier<Optional<Leader>> leader) {
        this.name = name;
        this.task = task;
        this.host = host;
        this.leader = leader;
        this.watch = new LeaderWatch(name, host);
    }

    // ---------------------------------------------------------------- the API

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isLeader() {
        Tenure current;
        synchronized (this) {
            current = tenure;
            if (current == null || !current.isServing()) {
                return false;
            }
        }
        return current.isValid();
    }

    @Override
    public Optional<Leader> leader() {
        return leader.get();
    }

    @Override
    public void onChange(Consumer<Optional<Leader>> listener) {
        watch.add(CallerContext.carry(Objects.requireNonNull(listener, "listener")));
    }

    @Override
    public boolean resign() {
        Tenure current;
        synchronized (this) {
            current = tenure;
        }
        if (current == null || !current.isValid() || !stop(current)) {
            return false;
        }
        releaseLater(current);
        return true;
    }

    @Override
    public void close() {
        boolean inTask;
        Tenure current;
        synchronized (this) {
            inTask = taskThread == Thread.currentThread();
            current = tenure;
        }
        if (inTask) {
            leave(false);
        } else if (leave(true)) {
            awaitEnd(current);
        }
    }

    /**
     * Ends the candidacy, without waiting for that.
     *
     * @param stops whether to stop the task; if not, the term ends when the task returns
     * @return false if that was done before
     */
    public boolean leave(boolean stops) {
        CompletableFuture<Lease> standing;
        Tenure current;
        boolean resting;
        synchronized (this) {
            if (closed) {
                return false;
            }
            closed = true;
            standing = claim;
            current = tenure;
            resting = state == State.RESTING;
            if (rest != null) {
                rest.cancel();
            }
        }
        watch.close();
        if (resting) {
            end();
        } else if (standing != null) {
            standing.cancel(false); // one that has its answer leads for a moment, and ends by that
        } else if (current != null && stops) {
            stop(current);
            releaseLater(current); // also after a loss: it bounds how long close() waits for the task
        }
        return true;
    }

    // ---------------------------------------------------------------- the circle

    /** Claims the lock. */
    public void stand() {
        boolean over;
        synchronized (this) {
            over = closed;
            if (!over) {
                state = State.STANDING;
                rest = null;
            }
        }
        if (over) {
            end(); // it left between two steps
            return;
        }
        CompletableFuture<Lease> call;
        try {
            call = host.lock().acquireAsync();
        } catch (RuntimeException e) {
            call = CompletableFuture.failedFuture(e);
        }
        boolean late;
        synchronized (this) {
            late = closed;
            claim = call;
        }
        call.whenComplete(this::answered);
        if (late) {
            call.cancel(false);
        }
    }

    private void answered(@Nullable Lease lease, @Nullable Throwable error) {
        if (lease != null) {
            won(lease);
            return;
        }
        boolean over;
        synchronized (this) {
            claim = null;
            over = closed || host.isClosed();
        }
        if (over) {
            end();
        } else if (error != null) {
            engineFailures++;
            rest("Election '{}': the candidate cannot stand, and tries again: {}", engineFailures, cause(error));
        }
    }

    private void won(Lease lease) {
        engineFailures = 0;
        Tenure won;
        try {
            won = new Tenure(lease);
        } catch (LockLostException e) {
            lease.closeAsync();
            answered(null, e);
            return;
        }
        boolean late;
        synchronized (this) {
            claim = null;
            state = State.LEADING;
            tenure = won;
            late = closed;
        }
        if (late) {
            returned(won, null);
            return;
        }
        log.debug("Election '{}': leads, term {}", name, won.token());
        host.onLoss(lease, () -> stop(won));
        won.onLost(reason -> {
            // The loss of its lock is in the log of events already.
            log.debug("Election '{}': term {} was lost: {}", name, won.token(), reason.explanation());
            watch.look();
        });
        try {
            host.lead(new TermRun(this, won, term -> caller.call(() -> task.lead(term))));
        } catch (RuntimeException | Error e) {
            returned(won, e); // there is no thread for it
        }
        watch.look();
    }

    /** False if the term has ended before its task began. */
    boolean begin(Tenure of, Runnable interrupt) {
        boolean valid = of.isValid();
        synchronized (this) {
            if (!valid || !of.begin(interrupt)) {
                return false;
            }
            taskThread = Thread.currentThread();
            return true;
        }
    }

    /** The task has returned: its term ends now, if it has not before. */
    void returned(Tenure of, @Nullable Throwable failure) {
        boolean stopped;
        synchronized (this) {
            stopped = of.returned();
            taskThread = null;
            state = State.LEAVING;
        }
        boolean failed = failure != null && !stopped;
        if (failed) {
            log.error("Election '{}': the task failed in term {}", name, of.token(), failure);
        } else if (failure != null && !(failure instanceof InterruptedException)) {
            log.warn("Election '{}': the task failed when term {} had ended", name, of.token(), failure);
        }
        of.release().whenComplete((done, error) -> released(failed, error));
    }

    private void released(boolean failed, @Nullable Throwable error) {
        if (error != null && !(cause(error) instanceof LockLostException)) {
            log.warn("Election '{}': {}", name, cause(error).getMessage());
        }
        boolean over;
        synchronized (this) {
            tenure = null;
            over = closed || host.isClosed();
        }
        watch.look();
        if (over) {
            end();
        } else if (failed) {
            taskFailures++;
            rest("Election '{}': the candidate stands again after a pause, since its task failed", taskFailures, null);
        } else {
            taskFailures = 0;
            stand();
        }
    }

    /** Stands again after a while. */
    private void rest(String message, int failures, @Nullable Throwable why) {
        String reason = why == null ? "" : String.valueOf(why.getMessage());
        if (failures == 1) {
            log.warn(message, name, reason);
        } else {
            log.debug(message, name, reason);
        }
        boolean over;
        synchronized (this) {
            over = closed;
            if (!over) {
                state = State.RESTING;
                rest = host.scheduler().schedule(host.backoff().delay(failures).toNanos(), this::stand);
            }
        }
        if (over) {
            end();
        }
    }

    private void end() {
        synchronized (this) {
            if (state == State.ENDED) {
                return;
            }
            state = State.ENDED;
            closed = true;
        }
        watch.close();
        host.ended();
        ended.complete(null);
    }

    // ---------------------------------------------------------------- ending a term early

    /** Releases a term after the request timeout, if the task has not returned by then. */
    private void releaseLater(Tenure current) {
        host.scheduler().schedule(host.requestTimeout().toNanos(), current::release);
    }

    /** Interrupts the task, or keeps it from beginning. False if that was done before, or the task has returned. */
    private synchronized boolean stop(Tenure of) {
        return of.stop();
    }

    /**
     * Waits until the next candidate may stand, or the term is over though its task still runs: the timer releases it
     * after one request timeout, and the release takes another at most.
     */
    private void awaitEnd(@Nullable Tenure current) {
        long timeoutNanos = host.requestTimeout().toNanos();
        try {
            CompletableFuture<?> over = current == null ? ended : CompletableFuture.anyOf(ended, current.over());
            over.get(2 * timeoutNanos, TimeUnit.NANOSECONDS);
            if (current != null && hasReturned(current)) {
                ended.get(timeoutNanos, TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it continues without this thread
        } catch (TimeoutException e) {
            log.warn("Election '{}': {} did not confirm in time that the candidate has left", name, host.engine());
        } catch (ExecutionException e) {
            throw new AssertionError("it never fails", e);
        }
    }

    private synchronized boolean hasReturned(Tenure of) {
        return of.hasReturned();
    }

    private static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    @Override
    public String toString() {
        return "LeaderElection[" + name + (isLeader() ? ", leads]" : "]");
    }
}
