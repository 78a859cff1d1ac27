package dev.lockstep.internal.watch;

import dev.lockstep.Lease;
import dev.lockstep.internal.events.EventRecords;
import dev.lockstep.internal.semaphore.Semaphores;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Turnstiles;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds abandoned holds: of threads that have ended, and of asynchronous leases that are unreachable. If the client is
 * set up for it, finds holds that last long, too. {@link Semaphores} checks permits. Looks when {@link DeadlineWatch}
 * does, which is at least once in a ttl while something is held; the client's timer thread calls it, and no other.
 *
 * <p>A lease that is not closed is noticed by a phantom reference which its hold keeps. If the lease is closed, hold and
 * reference go together, and neither a registry nor a thread is needed.
 */
public final class HoldWatch {
    private final TurnstileContext client;
    private final Turnstiles turnstiles;
    private final Semaphores semaphores;
    private final boolean releasesAbandoned;
    private final @Nullable Duration longHold;
    private final ReferenceQueue<Lease> unreachable = new ReferenceQueue<>();
    private volatile boolean closed;

    /** Notices the end of a lease that was not closed. */
    static final class LeaseReference extends PhantomReference<Lease> {
        private final Hold hold;

        LeaseReference(Lease lease, Hold hold, ReferenceQueue<Lease> queue) {
            super(lease, queue);
            this.hold = hold;
        }
    }

    public HoldWatch(
            TurnstileContext client, Semaphores semaphores, boolean releasesAbandoned, @Nullable Duration longHold) {
        this.client = client;
        this.turnstiles = client.turnstiles();
        this.semaphores = semaphores;
        this.releasesAbandoned = releasesAbandoned;
        this.longHold = longHold;
    }

    /** Where a call is made; null unless the client looks for leaks. */
    @Nullable
    public Throwable place() {
        return longHold == null ? null : new Throwable("acquired here");
    }

    /** Watches the lease of an asynchronous call, which belongs to no thread. */
    public void watch(Lease lease, Hold hold) {
        hold.noticedBy(new LeaseReference(lease, hold, unreachable));
    }

    /** Starts to check all holds periodically, if the client looks for long holds. */
    public void start() {
        if (longHold != null) {
            next(longHold.toNanos());
        }
    }

    private void next(long thresholdNanos) {
        long period = Math.max(thresholdNanos / 4, 1_000_000);
        client.scheduler().schedule(period, () -> {
            if (!closed) {
                look(client.nanoTime());
                next(thresholdNanos);
            }
        });
    }

    public void close() {
        closed = true;
    }

    public void look(long now) {
        List<Hold> left = new ArrayList<>();
        for (Reference<?> dropped = unreachable.poll(); dropped != null; dropped = unreachable.poll()) {
            if (dropped instanceof LeaseReference lease && lease.hold.isOpen()) {
                left.add(lease.hold);
            }
        }
        List<Hold> lasting = new ArrayList<>();
        for (Turnstile turnstile : turnstiles.all()) {
            turnstile.holds().forEach(hold -> {
                if (hold.owner != null && !hold.owner.isAlive()) {
                    left.add(hold);
                }
                if (longHold != null && now - hold.sinceNanos >= longHold.toNanos()) {
                    lasting.add(hold);
                }
            });
        }
        left.forEach(hold -> abandoned(hold, now));
        lasting.forEach(hold -> lastsLong(hold, now));
        semaphores.lookForLeaks(now);
        client.events().deliver();
    }

    private void abandoned(Hold hold, long now) {
        if (!hold.reportAbandoned()) {
            return;
        }
        Thread owner = hold.owner;
        boolean releases = owner == null || releasesAbandoned;
        String name = hold.turnstile.name();
        Duration held = Duration.ofNanos(now - hold.sinceNanos);
        client.events()
                .log()
                .abandoned(
                        name, owner == null ? null : owner.getName(), hold.drawnToken(), held, releases, hold.place());
        client.events()
                .abandoned(new EventRecords.Abandoned(
                        name, hold.mode, owner == null ? "" : owner.getName(), held, releases));
        if (releases) {
            Releases.drop(hold);
        }
    }

    private void lastsLong(Hold hold, long now) {
        if (!hold.reportLong()) {
            return;
        }
        Thread owner = hold.owner;
        String name = hold.turnstile.name();
        String holder = owner == null ? "a lease" : "thread '" + owner.getName() + "'";
        client.events()
                .log()
                .lastsLong(
                        "Lock '" + name + "': " + holder + " has held it",
                        name,
                        hold.drawnToken(),
                        Duration.ofNanos(now - hold.sinceNanos),
                        longHold == null ? Duration.ZERO : longHold,
                        hold.place());
    }
}
