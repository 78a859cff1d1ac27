package dev.lockstep.internal.semaphore;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** The semaphore state of a client: its calls that wait, and its permits. Safe for use by many threads. */
public final class Semaphores {
    private final SemaphoreHost host;

    /**
     * All calls and permits that the engine may know, from before it is asked until it has forgotten them; in the order
     * of the calls.
     */
    private final ConcurrentNavigableMap<Long, PermitCall> calls = new ConcurrentSkipListMap<>();

    private final ReferenceQueue<Permit> unreachable = new ReferenceQueue<>();
    private final AtomicLong numbers = new AtomicLong();
    private volatile boolean closed;

    public Semaphores(SemaphoreHost host) {
        this.host = host;
    }

    public DistributedSemaphore semaphore(String name, int permits, LockOptions options) {
        return new ClientSemaphore(this, name, permits, options);
    }

    SemaphoreHost host() {
        return host;
    }

    long newNumber() {
        return numbers.incrementAndGet();
    }

    void add(PermitCall call) {
        calls.put(call.number(), call);
        if (closed) {
            call.forget(); // close() may wait for it already
            host.ensureOpen();
        }
    }

    void remove(PermitCall call) {
        calls.remove(call.number());
    }

    /**
     * Whether the engine has owed the answer to a release or withdrawal of this client for so long that it is unknown
     * who has the permits.
     */
    boolean isOwed(String name, long now) {
        for (PermitCall call : calls.values()) {
            if (call.name().equals(name) && call.isOwed(now)) {
                return true;
            }
        }
        return false;
    }

    /** Ends permits that are past their deadlines, and asks to be called again for the next. */
    public void look(long now) {
        for (PermitCall call : calls.values()) {
            call.hold().checkDeadline(now);
            call.hold().watchDeadline();
        }
    }

    /** The queue of permit handles that have become unreachable. */
    ReferenceQueue<Permit> unreachable() {
        return unreachable;
    }

    /** Finds permits whose handles are unreachable, and releases them; and reports those that are held for long. */
    public void lookForLeaks(long now) {
        for (Reference<?> dropped = unreachable.poll(); dropped != null; dropped = unreachable.poll()) {
            if (dropped instanceof PermitReference permit) {
                permit.hold().abandon(now);
            }
        }
        Duration longHold = host.longHold();
        if (longHold != null) {
            for (PermitCall call : calls.values()) {
                call.hold().reportIfLong(now, longHold.toNanos());
            }
        }
    }

    /**
     * Ends calls that have waited too long for an engine that does not answer.
     *
     * @return how long until the next of them ends if the engine stays silent; 0 if nobody waits
     */
    public long checkOutage(long now, long lastContact, long earliest) {
        long answered = lastContact - earliest > 0 ? lastContact : earliest;
        long left = Long.MAX_VALUE;
        for (PermitCall call : calls.values()) {
            long patience = call.checkOutage(now, answered);
            if (patience > 0 && call.isClaiming()) {
                left = Math.min(left, patience);
            }
        }
        return hasWaiters() ? left : 0;
    }

    public boolean hasWaiters() {
        for (PermitCall call : calls.values()) {
            if (call.isClaiming()) {
                return true;
            }
        }
        return false;
    }

    /** Adds what this client holds and waits for. */
    public void addTo(List<ClientSnapshot.Use> holds, List<ClientSnapshot.Use> waiters, long now) {
        for (PermitCall call : calls.values()) {
            call.addTo(holds, waiters, now);
        }
    }

    /** Ends everything. Done when the engine knows nothing of it any more. */
    public List<CompletableFuture<Void>> close() {
        closed = true;
        calls.values().forEach(PermitCall::closeWaiting); // first, so that none gets what another one releases
        List<CompletableFuture<Void>> gone = new ArrayList<>();
        for (PermitCall call : calls.values()) {
            gone.add(call.closeHeld());
        }
        return gone;
    }
}
