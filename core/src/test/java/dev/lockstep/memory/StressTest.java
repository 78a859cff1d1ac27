package dev.lockstep.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockMode;
import dev.lockstep.memory.Clients.Client;
import dev.lockstep.memory.MemoryEngine.Outage;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.VirtualScheduler;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many threads of three clients claim, give up, downgrade and release at once, with and without faults. Judged by what
 * they saw: holds that the engine confirmed at their end do not overlap and have rising tokens, every claim is answered,
 * and nothing is left. The clock does not move, so no session ends except by a fault.
 */
class StressTest {
    private static final int THREADS = 6;
    private static final int ROUNDS = 1500;

    /** Two of them have the same hash. */
    private static final List<String> NAMES = List.of("Aa", "BB", "lock");

    /** A hold whose release was confirmed, between two readings of one counter. */
    private record Held(String name, LockMode mode, long token, long from, long to) {}

    private final VirtualScheduler time = new VirtualScheduler();
    private final MemoryEngine engine = new MemoryEngine();
    private final List<Client> clients =
            List.of(Clients.open(engine, "a", time), Clients.open(engine, "b", time), Clients.open(engine, "c", time));
    private final AtomicLong moments = new AtomicLong();
    private final Queue<Held> history = new ConcurrentLinkedQueue<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4})
    void nothingOverlapsOrIsLeftBehind(long seed) throws Exception {
        run(seed, false);
        assertThat(history).hasSizeGreaterThan(THREADS * ROUNDS / 4);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {5, 6, 7, 8})
    void nothingOverlapsWhileSessionsEndAndLinksBreak(long seed) throws Exception {
        run(seed, true);
        assertThat(history).isNotEmpty();
    }

    private void run(long seed, boolean faults) throws Exception {
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Client client = clients.get(i % clients.size());
            Random random = new Random(seed * 1000 + i);
            workers.add(threads.submit(() -> work(client, random)));
        }
        AtomicBoolean done = new AtomicBoolean();
        Future<?> chaos = threads.submit(() -> {
            Random random = new Random(seed);
            while (faults && !done.get()) {
                breakSomething(random);
            }
        });
        for (Future<?> worker : workers) {
            worker.get(60, TimeUnit.SECONDS);
        }
        done.set(true);
        chaos.get(60, TimeUnit.SECONDS);

        assertThat(engine.lockCount()).isZero();
        assertThat(engine.sessionCount()).isEqualTo(clients.size());
        clients.forEach(Client::close);
        assertThat(time.pending()).isZero();
        Map<String, List<Held>> byName = history.stream()
                .sorted(Comparator.comparingLong(Held::from))
                .collect(Collectors.groupingBy(Held::name));
        byName.values().forEach(StressTest::check);
    }

    private Void work(Client client, Random random) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            String name = NAMES.get(random.nextInt(NAMES.size()));
            LockMode mode = random.nextInt(3) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE;
            Claim claim = client.submit(name, mode, random.nextInt(4) > 0, random.nextBoolean());
            if (random.nextInt(4) == 0) {
                spin(random);
                Clients.withdraw(claim).get(30, TimeUnit.SECONDS);
            } else if (Clients.outcome(claim).get(30, TimeUnit.SECONDS) instanceof Outcome.Granted granted) {
                hold(name, mode, granted.grant(), random);
            }
        }
        return null;
    }

    private void hold(String name, LockMode mode, Grant grant, Random random) throws Exception {
        long from = moments.incrementAndGet();
        spin(random);
        LockMode last = mode;
        if (random.nextInt(8) == 0 && grant.downgrade().toCompletableFuture().get(30, TimeUnit.SECONDS)) {
            last = LockMode.SHARED;
        }
        long to = moments.incrementAndGet();
        if (Clients.release(grant).get(30, TimeUnit.SECONDS) && last == mode) {
            history.add(new Held(name, mode, grant.token(), from, to));
        }
    }

    private void breakSomething(Random random) {
        String client = List.of("a", "b", "c").get(random.nextInt(3));
        switch (random.nextInt(4)) {
            case 0 -> engine.expireSession(client);
            case 1 -> engine.revoke(NAMES.get(random.nextInt(NAMES.size())));
            default -> {
                engine.disconnect(client, random.nextBoolean() ? Outage.REQUESTS_LOST : Outage.REPLIES_LOST);
                spin(random);
                if (random.nextInt(3) == 0) {
                    engine.expireSession(client);
                }
                engine.reconnect(client);
            }
        }
        spin(random);
    }

    private static void spin(Random random) {
        for (int i = random.nextInt(200); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    private static void check(List<Held> holds) {
        long lastExclusive = 0;
        long lastToken = 0;
        long busyUntil = 0;
        long sharedUntil = 0;
        for (Held held : holds) {
            assertThat(held.from()).as("%s begins after exclusive ones", held).isGreaterThan(busyUntil);
            assertThat(held.token()).as("token of %s", held).isGreaterThan(lastExclusive);
            if (held.mode() == LockMode.EXCLUSIVE) {
                assertThat(held.from()).as("%s begins after shared ones", held).isGreaterThan(sharedUntil);
                assertThat(held.token()).as("token of %s", held).isGreaterThan(lastToken);
                busyUntil = held.to();
                lastExclusive = held.token();
            } else {
                sharedUntil = Math.max(sharedUntil, held.to());
            }
            lastToken = Math.max(lastToken, held.token());
        }
    }
}
