package dev.lockstep.etcd;

import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.DelayedCheck;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Watches the queues of locks that are held for longer than a moment: for claims of other clients, and for a forced
 * release by an operator. A lock that is released within the moment costs no watch. Safe for use by many threads.
 */
final class HoldWatches {
    /** After a new connection all watches look at once: ten thousand requests would keep the server from renewals. */
    private static final int LOOKS = 64;

    private final Scheduler scheduler;
    private final Backoff backoff;
    private final DelayedCheck<EtcdGrant> held;
    private final Deque<EtcdGrant> toLook = new ArrayDeque<>(); // guarded by this, as the next
    private int looking;

    HoldWatches(BackendContext context) {
        this.scheduler = context.scheduler();
        this.backoff = context.retryBackoff();
        this.held = new DelayedCheck<>(scheduler, EtcdGrant::watchQueue);
    }

    void add(EtcdGrant grant) {
        held.add(grant);
    }

    /** Schedules a check of this grant's queue, and repeats it until it is answered. */
    void look(EtcdGrant grant) {
        synchronized (this) {
            toLook.add(grant);
        }
        lookOn();
    }

    private void lookOn() {
        EtcdGrant next;
        while ((next = nextToLook()) != null) {
            EtcdGrant looker = next;
            looker.look().whenComplete((seen, failure) -> {
                synchronized (this) {
                    looking--;
                }
                if (failure != null) {
                    scheduler.schedule(backoff.max().toNanos(), () -> look(looker));
                }
                lookOn();
            });
        }
    }

    private synchronized @Nullable EtcdGrant nextToLook() {
        EtcdGrant next = looking < LOOKS ? toLook.poll() : null;
        if (next != null) {
            looking++;
        }
        return next;
    }
}
