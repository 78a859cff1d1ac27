package dev.lockstep.examples;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;

/** The first lines that a user of Lockstep writes; the README quotes them. */
public final class GettingStarted {
    private GettingStarted() {}

    /**
     * Ships an order twice, each time under its lock.
     *
     * @param args none
     * @throws InterruptedException if interrupted while it waits for the lock
     */
    public static void main(String[] args) throws InterruptedException {
        Orders orders = new Orders();
        // tag::readme
        try (LockClient locks = LockClient.connect("memory:")) {
            DistributedLock lock = locks.lock("order:42"); // a java.util.concurrent.locks.Lock
            lock.lock();
            try {
                orders.ship(42);
            } finally {
                lock.unlock();
            }
            try (Lease lease = lock.acquire()) { // the same lock as a handle
                orders.ship(42, lease.token()); // storage refuses a token older than it has seen
            }
        }
        // end::readme
    }

    /** The data that the lock protects. */
    private static final class Orders {
        private final Row shipments = new Row(0);

        void ship(int order) {
            shipments.write(shipments.read() + 1);
            System.out.println("shipped order " + order);
        }

        void ship(int order, long token) {
            shipments.write(shipments.read(token) + 1, token);
            System.out.println("shipped order " + order + " with token " + token);
        }
    }
}
