package dev.lockstep.internal.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockListener;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.client.Clients;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.memory.MemoryEngine.Outage;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Random histories of a client with a fallback, its engine going away and coming back. One seed is one history. */
class FallbackRandomTest {
    private static final int HISTORIES = Integer.getInteger("lockstep.fallback.histories", 2_000);
    private static final int STEPS = 80;
    private static final Duration AFTER = Duration.ofSeconds(3);
    private static final Duration TTL = Duration.ofSeconds(10);

    @Test
    void oneHolderAtATimeWhereverItIsHeldAndNothingIsLeft() {
        int fallbacks = 0;
        List<String> logged = new ArrayList<>();
        ThreadLogs.onError(logged::add);
        try {
            for (int seed = 0; seed < HISTORIES; seed++) {
                fallbacks += run(seed);
                assertThat(logged).as("seed " + seed).isEmpty();
            }
        } finally {
            ThreadLogs.onError(null);
        }
        assertThat(fallbacks).isGreaterThan(HISTORIES / 4);
    }

    private static int run(int seed) {
        try {
            return new History(seed).run();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("seed " + seed, e);
        }
    }

    private record Taken(String name, boolean shared, Lease lease) {
        boolean excludes(Taken other) {
            return name.equals(other.name) && !(shared && other.shared);
        }
    }

    /** A call; cancelled at its source, since a cancelled copy would leave the lease to nobody. */
    private record Asked(
            String name, boolean shared, CompletableFuture<?> source, CompletableFuture<Optional<Lease>> future) {}

    private static final class History {
        private final Random random;
        private final VirtualScheduler time = new VirtualScheduler();
        private final MemoryEngine engine = new MemoryEngine();
        private final MemoryEngine other = new MemoryEngine();
        private final Client client;
        private final Client rival;
        private final List<Asked> asked = new ArrayList<>();
        private final List<Taken> taken = new ArrayList<>();
        private final List<Lease> rivals = new ArrayList<>();
        private final Map<String, Long> tokens = new HashMap<>();
        private int entered;
        private int left;

        History(long seed) {
            random = new Random(seed);
            LockListener listener = new LockListener() {
                @Override
                public void onFallbackEntered(FallbackEntered event) {
                    assertThat(entered++).isEqualTo(left);
                }

                @Override
                public void onFallbackLeft(FallbackLeft event) {
                    assertThat(++left).isEqualTo(entered);
                }
            };
            client = open("client", List.of(listener), new FallbackPlan(other, AFTER));
            rival = open("rival", List.of(), null);
        }

        private Client open(String name, List<LockListener> listeners, @Nullable FallbackPlan plan) {
            Clients.Settings settings = new Clients.Settings(
                    "test",
                    TTL,
                    Duration.ofSeconds(2),
                    Duration.ofMillis(20),
                    Duration.ofMillis(500),
                    name,
                    null,
                    listeners);
            String id = (name + "______________________").substring(0, 22);
            return new Client(engine, settings, plan, time, Runnable::run, name, id, () -> {});
        }

        int run() {
            for (int step = 0; step < STEPS; step++) {
                step();
                look();
            }
            engine.reconnect();
            for (int i = 0; i < 20; i++) {
                giveBackAll();
                time.advance(Duration.ofSeconds(1));
                look();
            }
            assertThat(asked).as("unanswered").isEmpty();
            assertThat(entered).isEqualTo(left);
            giveBackAll();
            time.advance(TTL.multipliedBy(2));
            assertThat(engine.lockCount()).isZero();
            assertThat(other.lockCount()).isZero();
            client.close();
            rival.close();
            time.advance(Duration.ofHours(1));
            assertThat(time.pending()).isZero();
            assertThat(other.sessionCount()).isZero();
            return entered;
        }

        private void step() {
            switch (random.nextInt(12)) {
                case 0 ->
                    engine.disconnect("client", random.nextBoolean() ? Outage.REQUESTS_LOST : Outage.REPLIES_LOST);
                case 1 -> engine.reconnect("client");
                case 2 -> time.advance(Duration.ofMillis(1 + random.nextInt(8_000)));
                case 3 -> time.advance(Duration.ofMillis(1 + random.nextInt(500)));
                case 4 -> giveUp();
                case 5 -> compete();
                case 6, 7, 8 -> giveBack();
                default -> ask();
            }
        }

        /** Names differ in their options, since a name has one kind of lock at a time. */
        private void ask() {
            int kind = random.nextInt(4);
            String name = List.of("plain", "fair", "sticky", "plain2").get(kind);
            LockOptions options = kind == 1
                    ? LockOptions.defaults().fair()
                    : kind == 2 ? LockOptions.defaults().sticky(Duration.ofSeconds(1)) : LockOptions.defaults();
            boolean shared = random.nextInt(3) == 0;
            var readWrite = client.readWriteLock(name, options);
            DistributedLock lock = shared ? readWrite.readLock() : readWrite.writeLock();
            if (random.nextInt(3) == 0) {
                var timed = lock.tryAcquireAsync(Duration.ofMillis(random.nextInt(5_000)));
                asked.add(new Asked(name, shared, timed, timed));
            } else {
                CompletableFuture<Lease> untimed = lock.acquireAsync();
                asked.add(new Asked(name, shared, untimed, untimed.thenApply(Optional::of)));
            }
        }

        private void compete() {
            if (rivals.isEmpty()) {
                rival.lock(List.of("plain", "plain2").get(random.nextInt(2)))
                        .tryAcquireAsync(Duration.ZERO)
                        .thenAccept(lease -> lease.ifPresent(rivals::add));
            } else {
                rivals.remove(0).closeAsync();
            }
        }

        private void giveUp() {
            if (!asked.isEmpty()) {
                asked.get(random.nextInt(asked.size())).source.cancel(true);
            }
        }

        private void giveBack() {
            if (!taken.isEmpty()) {
                taken.remove(random.nextInt(taken.size())).lease.closeAsync();
            }
        }

        private void giveBackAll() {
            look();
            while (!taken.isEmpty()) {
                giveBack();
                look();
            }
            rivals.forEach(Lease::closeAsync);
            rivals.clear();
        }

        /** Looks at what has been answered, and that no two holds are good at once that exclude each other. */
        private void look() {
            List<Asked> answered =
                    asked.stream().filter(call -> call.future.isDone()).toList();
            asked.removeAll(answered);
            for (Asked call : answered) {
                if (!call.future.isCompletedExceptionally()) {
                    call.future.join().ifPresent(lease -> take(new Taken(call.name, call.shared, lease)));
                }
            }
            List<Taken> valid =
                    taken.stream().filter(held -> held.lease.isValid()).toList();
            for (Taken one : valid) {
                for (Taken two : valid) {
                    assertThat(one != two && one.excludes(two))
                            .as("two holds of '%s'", one.name)
                            .isFalse();
                }
            }
        }

        private void take(Taken held) {
            taken.add(held);
            if (held.lease.isFallback() || !held.lease.isValid()) {
                return;
            }
            long token = held.lease.token();
            Long last = tokens.get(held.name);
            assertThat(last == null || (held.shared ? token >= last : token > last))
                    .as("token of '%s'", held.name)
                    .isTrue();
            tokens.put(held.name, token);
        }
    }
}
