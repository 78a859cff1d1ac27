package dev.lockstep.internal.semaphore;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** What a client has of semaphores: its calls that wait, and its permits. Safe for use by many threads. */
public final class Semaphores {
    private final SemaphoreHost host;

    /** All that the engine may know of, from before it is asked until it has forgotten it; in the order of the calls. */
    private final ConcurrentNavigableMap<Long, PermitCall> calls = new ConcurrentSkipListMap<>();

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
            remove(call);
            host.ensureOpen();
        }
    }

    void remove(PermitCall call) {
        calls.remove(call.number());
    }

    /** Whether the engine owes the answer to a release or withdrawal of this client for so long that nobody knows who has it. */
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

    /** Ends calls that have waited in vain for an engine that does not answer. True if others still wait. */
    public boolean checkOutage(long now, long lastContact, long earliest) {
        long answered = lastContact - earliest > 0 ? lastContact : earliest;
        for (PermitCall call : calls.values()) {
            call.checkOutage(now, answered);
        }
        return hasWaiters();
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
