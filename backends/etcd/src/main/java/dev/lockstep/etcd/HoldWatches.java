package dev.lockstep.etcd;

import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches the queues of locks that are held for longer than a moment: for others who want them, and for an operator who
 * takes them away. A lock that is given back within the moment costs no watch. One timer for all. Safe for use by many
 * threads.
 */
final class HoldWatches {
    private static final long MOMENT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** After a new connection all watches look at once: ten thousand requests would keep the server from renewals. */
    private static final int LOOKS = 64;

    private final Scheduler scheduler;
    private final Backoff backoff;
    private List<EtcdGrant> fresh = new ArrayList<>(); // guarded by this, as all that follows
    private List<EtcdGrant> older = new ArrayList<>();
    private boolean ticking;
    private final Deque<EtcdGrant> toLook = new ArrayDeque<>();
    private int looking;

    HoldWatches(BackendContext context) {
        this.scheduler = context.scheduler();
        this.backoff = context.retryBackoff();
    }

    synchronized void add(EtcdGrant grant) {
        fresh.add(grant);
        if (!ticking) {
            ticking = true;
            scheduler.schedule(MOMENT_NANOS, this::tick);
        }
    }

    private void tick() {
        List<EtcdGrant> due;
        synchronized (this) {
            due = older;
            older = fresh;
            fresh = new ArrayList<>();
            ticking = !older.isEmpty();
            if (ticking) {
                scheduler.schedule(MOMENT_NANOS, this::tick);
            }
        }
        due.forEach(EtcdGrant::watchQueue);
    }

    /** Has a grant look, when its turn comes, and again until it is answered. */
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
