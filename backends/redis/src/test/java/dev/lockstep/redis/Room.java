package dev.lockstep.redis;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * One lock and what it protects: a counter that is read, and written somewhat later. Storage knows the highest token it was
 * shown, and refuses lower ones. Whatever should not happen here is written down.
 */
final class Room {
    private final LockOptions options;
    private final String name;
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Lease> inside = new AtomicReference<>();
    private final AtomicLong highest = new AtomicLong();

    // Guarded by this: the storage.
    private long shown;
    private long counter;
    private long written;

    Room(LockOptions options) {
        this.options = options;
        this.name = "room-" + options.isFair();
    }

    /** The violations that were seen. */
    Queue<String> violations() {
        if (counter() != visits()) {
            violations.add(name + ": " + visits() + " writes, but the counter is " + counter());
        }
        return violations;
    }

    /** How many have written. */
    synchronized long visits() {
        return written;
    }

    private synchronized long counter() {
        return counter;
    }

    /** Comes, perhaps gets in, and goes. */
    void visit(LockClient client, Random random) throws InterruptedException {
        DistributedLock lock = client.lock(name, options);
        try {
            Optional<Lease> maybe = lock.tryAcquire(Duration.ofMillis(random.nextInt(400)));
            if (maybe.isPresent()) {
                try (Lease lease = maybe.get()) {
                    enter(lease);
                }
            }
        } catch (LockUnavailableException | ReleaseNotConfirmedException | LockLostException e) {
            // The caller knows, which is all that is asked.
        }
    }

    private void enter(Lease lease) {
        long token = lease.token();
        long before = highest.getAndAccumulate(token, Math::max);
        Lease other = inside.getAndSet(lease);
        // Looked at in this order: the one who is inside may leave, but does not become valid again.
        if (other != null && other.isValid() && lease.isValid() && inside.get() == lease) {
            violations.add(name + ": two at once, " + token);
        }
        if (token <= before && lease.isValid()) {
            violations.add(name + ": token " + token + " after " + before);
        }
        long value = read(token);
        LockSupport.parkNanos(500_000);
        write(token, value + 1);
        inside.compareAndSet(lease, null);
    }

    private synchronized long read(long token) {
        shown = Math.max(shown, token);
        return counter;
    }

    private synchronized void write(long token, long value) {
        if (token >= shown) {
            counter = value;
            written++;
        }
    }
}
