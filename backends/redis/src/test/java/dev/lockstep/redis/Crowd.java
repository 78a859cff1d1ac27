package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;

/** Threads of several clients that go in and out of rooms, until they are asked to stop. */
final class Crowd {
    private static final int THREADS = 2;

    private final List<Room> rooms;
    private final List<Thread> threads = new ArrayList<>();
    private final Queue<String> troubles = new ConcurrentLinkedQueue<>();
    private volatile boolean over;

    Crowd(Room... rooms) {
        this.rooms = List.of(rooms);
    }

    /** Lets a client's threads come in. */
    void join(LockClient client) {
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(threads.size());
            Thread thread = new Thread(() -> work(client, random));
            threads.add(thread);
            thread.start();
        }
    }

    private void work(LockClient client, Random random) {
        try {
            while (!over) {
                rooms.get(random.nextInt(rooms.size())).visit(client, random);
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            troubles.add(e.toString());
        }
    }

    /** Waits until all is well again: until each room has had some more visits. */
    void awaitVisits(int more) {
        for (Room room : rooms) {
            long before = room.visits();
            Awaitility.await("visits go on").atMost(Duration.ofMinutes(1)).until(() -> room.visits() >= before + more);
        }
    }

    /** Ends it. No two threads may have met in a room, and each room must have been used. */
    void end(int leastVisits) throws InterruptedException {
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(troubles).isEmpty();
        for (Room room : rooms) {
            assertThat(room.violations()).isEmpty();
            assertThat(room.visits()).isGreaterThan(leastVisits);
        }
    }
}
