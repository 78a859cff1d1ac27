package dev.lockstep.internal.lock;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.turnstile.ClaimBatch;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.Result;
import dev.lockstep.internal.turnstile.ThreadWait;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Waiter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One call of a thread that takes several locks, in their order. Used once, by that thread. */
final class MultiTake {
    /*
     * As many locks as are free are taken with one request: the locks at the front that nobody here uses are claimed in a
     * batch, and those that are granted before the first that is not are kept. That one is then taken as if it were the
     * only lock, by a call that waits for as long as it is allowed to; after it the rest follows in the same way. While
     * the call waits for a lock it holds none behind it, so that two calls never wait for each other.
     */

    private final TurnstileContext client;
    private final List<TurnstileLock> locks;
    private final String name;
    private final MultiWait wait;
    private final boolean interruptible;
    private final Releases.Part part;
    private final BatchSize batchSize;
    private final List<Hold> taken;

    /** Whether the next lock was refused in a batch. */
    private boolean nextAlone;

    /** Whether the call ends because the engine is unavailable. */
    private boolean failed;

    MultiTake(TurnstileContext client, MultiLock lock, long waitNanos, boolean interruptible, Releases.Part part) {
        this.client = client;
        this.locks = lock.locks();
        this.name = lock.name();
        this.wait = new MultiWait(client, waitNanos);
        this.interruptible = interruptible;
        this.part = part;
        this.batchSize = new BatchSize(client);
        this.taken = new ArrayList<>(locks.size());
    }

    /** Takes all, or releases what it took. Null if another caller holds one. */
    @Nullable
    List<Hold> run() throws InterruptedException {
        try {
            while (taken.size() < locks.size()) {
                if (!takeNext()) {
                    return null;
                }
            }
            return taken;
        } catch (IllegalStateException e) {
            // A client that is closed while the call is under way is not one that was closed before it.
            throw taken.isEmpty() ? e : client.failures().closedWhileWaiting(name);
        } catch (LockUnavailableException e) {
            failed = true;
            throw e;
        } finally {
            if (taken.size() < locks.size()) {
                Releases.undoAll(taken, part, failed, client);
            }
        }
    }

    /** Takes the next lock, and perhaps some that follow it. False if another caller holds it, and the time is up. */
    private boolean takeNext() throws InterruptedException {
        TurnstileLock next = locks.get(taken.size());
        Observation observed = next.observe(wait.observedNanos(), false);
        if (mayBatch()) {
            int before = taken.size();
            try {
                takeTogether(observed);
            } catch (InterruptedException | RuntimeException | Error e) {
                if (observed != null && taken.size() == before) {
                    observed.failed(e);
                }
                throw e;
            }
            if (taken.size() > before) {
                return true;
            }
        }
        nextAlone = false;
        failed = false;
        Hold hold = next.take(wait.leftNanos(), interruptible, observed);
        if (hold == null) {
            return false;
        }
        add(next, hold);
        return true;
    }

    private boolean mayBatch() {
        boolean interrupted = interruptible && Thread.currentThread().isInterrupted();
        return !nextAlone && !interrupted && batchSize.next(locks.size() - taken.size()) > 1;
    }

    private void add(TurnstileLock lock, Hold hold) {
        lock.count(hold, part);
        taken.add(hold);
    }

    /** Takes as many of the next locks as are free, with one request. */
    private void takeTogether(@Nullable Observation observed) throws InterruptedException {
        int from = taken.size();
        long start = client.monotonicNanos();
        ClaimBatch batch = new ClaimBatch(client);
        int asked = fill(batch, locks.subList(from, from + batchSize.next(locks.size() - from)));
        if (asked == 0) {
            return;
        }
        batch.submit();
        List<Hold> holds = new ArrayList<>(asked);
        Result refusal = await(batch.waiters(), holds);
        for (int i = 0; i < holds.size(); i++) {
            TurnstileLock lock = locks.get(from + i);
            Observation call = i == 0 ? observed : lock.observe(wait.observedNanos(), false);
            if (call != null) {
                call.acquired(holds.get(i));
            }
            add(lock, holds.get(i));
        }
        nextAlone = refusal != null;
        batchSize.answered(asked, holds.size());
        if (refusal instanceof Result.Failed failed && wait.isOver(start)) {
            throw failed.exception().get();
        }
    }

    /**
     * Adds the locks at the front that nobody here uses. If a lock cannot be added, the reason is reported when it is
     * taken alone.
     */
    private static int fill(ClaimBatch batch, List<TurnstileLock> next) {
        int added = 0;
        try {
            while (added < next.size() && next.get(added).joins(batch, null)) {
                added++;
            }
        } catch (RuntimeException e) {
            return added;
        }
        return added;
    }

    /** Waits for the answers. Releases what was granted behind the first that was not, whose result is returned. */
    private @Nullable Result await(List<Waiter> waiters, List<Hold> holds) throws InterruptedException {
        boolean interrupted = true;
        try {
            Result refusal = null;
            for (int i = 0; i < waiters.size() && refusal == null; i++) {
                Result result = result(waiters.get(i));
                if (result instanceof Result.Held held) {
                    holds.add(held.hold());
                } else {
                    refusal = result;
                    failed = result instanceof Result.Failed;
                }
            }
            interrupted = false;
            return refusal;
        } finally {
            int kept = interrupted ? 0 : holds.size();
            if (kept < waiters.size()) {
                giveUp(waiters.subList(kept, waiters.size()));
            }
        }
    }

    private Result result(Waiter waiter) throws InterruptedException {
        Result known = waiter.result();
        return known != null ? known : new ThreadWait(waiter).await(interruptible);
    }

    private void giveUp(List<Waiter> waiters) {
        // An engine that is silent confirms nothing, and the call has waited for it already.
        boolean silent = failed && client.patienceLeftNanos() == 0;
        for (Waiter waiter : waiters) {
            if (!silent || !waiter.timeUp()) {
                waiter.giveUp();
            }
        }
        List<Hold> unwanted = new ArrayList<>();
        for (Waiter waiter : waiters) {
            if (ThreadWait.awaitEnd(waiter) instanceof Result.Held held) {
                unwanted.add(held.hold());
            }
        }
        Releases.undoAll(unwanted, Releases.Part.ALL, failed, client);
    }
}
