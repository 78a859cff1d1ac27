package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** One holder at a time, over all threads of all clients, and a token that rises with each hold. */
abstract class ExclusionContract extends ContractGroup {
    /** The data that the lock guards. Plain fields: an overlap of two holders loses updates or lowers the token. */
    private static final class Guarded {
        int count;
        long lastToken;
        int tokensThatDidNotRise;

        void update() {
            int read = count;
            Thread.onSpinWait();
            count = read + 1;
        }

        void update(long token) {
            update();
            if (token <= lastToken) {
                tokensThatDidNotRise++;
            }
            lastToken = token;
        }
    }

    ExclusionContract(LockContract contract) {
        super(contract);
    }

    @Test
    void noUpdateIsLostBetweenThreadsOfOneClient() throws Exception {
        noUpdateIsLost(List.of(client()), 16, LockOptions.defaults());
    }

    @Test
    void noUpdateIsLostBetweenClients() throws Exception {
        noUpdateIsLost(clients(4), 4, LockOptions.defaults());
    }

    @Test
    void noUpdateIsLostBetweenClientsThatHandNothingOff() throws Exception {
        noUpdateIsLost(clients(3), 3, LockOptions.defaults().handOff(0));
    }

    @Test
    @Requires(Capability.FAIR)
    void noUpdateIsLostUnderAFairLock() throws Exception {
        // Each hold is a turn of its own at the engine, with its writes to disk.
        noUpdateIsLost(clients(3), 3, LockOptions.defaults().fair(), fixture().attempts() / 2);
    }

    @Test
    void noUpdateIsLostUnderANonReentrantLock() throws Exception {
        noUpdateIsLost(clients(3), 3, LockOptions.defaults().nonReentrant());
    }

    @Test
    void noUpdateIsLostWhicheverWayTheLockIsTaken() throws Exception {
        Guarded guarded = new Guarded();
        int rounds = fixture().attempts() / 12;
        List<Call<Integer>> calls = new ArrayList<>();
        List<LockClient> clients = clients(3);
        for (int i = 0; i < 12; i++) {
            DistributedLock lock = clients.get(i % clients.size()).lock(NAME);
            Random random = random(i);
            calls.add(actor("worker-" + i).start(() -> {
                int updates = 0;
                for (int round = 0; round < rounds; round++) {
                    Way way = Way.values()[random.nextInt(Way.values().length)];
                    Way.Hold hold = takeIfPossible(way, lock, Duration.ofMillis(random.nextInt(20)));
                    if (hold != null) {
                        guarded.update();
                        updates++;
                        hold.release();
                    }
                }
                return updates;
            }));
        }
        int updates = 0;
        for (Call<Integer> call : calls) {
            updates += call.get(Duration.ofSeconds(60));
        }
        assertThat(updates).isPositive();
        assertThat(guarded.count).isEqualTo(updates);
    }

    private static Way.@Nullable Hold takeIfPossible(Way way, DistributedLock lock, Duration wait)
            throws InterruptedException {
        try {
            return way.take(lock, wait).orElse(null);
        } catch (LockUnavailableException e) {
            return null; // the wait was shorter than the way to the engine and back
        }
    }

    @Test
    void tokensRiseThroughMoreHandOffsThanOneGrantHasTokensFor() throws Exception {
        // Many threads and no rival: the grant is handed on and on. A grant has room for 1,023 tokens.
        noUpdateIsLost(List.of(client()), 8, LockOptions.defaults(), 10_000);
    }

    @Test
    void tokensRiseFromClientToClient() throws Exception {
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            LockClient shortUse = open(UnaryOperator.identity());
            try (Lease lease = shortUse.lock(NAME).acquire()) {
                tokens.add(lease.token());
            }
            shortUse.close();
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates().allMatch(token -> token > 0);
    }

    @Test
    void aHoldThatNeverAsksForItsTokenDoesNotDisturbTheOrder() throws Exception {
        long first;
        try (Lease lease = lock().acquire()) {
            first = lease.token();
        }
        lock().lock();
        lock().unlock();
        try (Lease lease = rivalLock().acquire()) {
            assertThat(lease.token()).isGreaterThan(first);
        }
    }

    @Test
    void locksOfDifferentNamesDoNotExcludeEachOther() {
        lock().lock();
        DistributedLock elsewhere = rival().lock(NAME + "3");
        assertThat(elsewhere.tryLock()).isTrue();
        elsewhere.unlock();
        lock().unlock();
    }

    @Test
    void locksOfDifferentNamespacesDoNotExcludeEachOther() {
        LockClient elsewhere = open(builder ->
                builder.namespace("tck-elsewhere-" + bench().namespace().substring(30)));
        lock().lock();
        assertThat(elsewhere.lock(NAME).tryLock()).isTrue();
        assertThat(elsewhere.list("")).hasSize(1);
        elsewhere.lock(NAME).unlock();
        assertThat(elsewhere.list("")).isEmpty();
        lock().unlock();
    }

    @Test
    void twoLockObjectsOfOneNameAreOneLock() throws Exception {
        client().lock(NAME).lock();
        assertThat(client().lock(NAME).isHeldByCurrentThread()).isTrue();
        assertThat(actor("another").call(() -> client().lock(NAME).tryLock())).isFalse();
        client().lock(NAME).unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    private List<LockClient> clients(int count) {
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(bench().client("client-" + i));
        }
        return clients;
    }

    private void noUpdateIsLost(List<LockClient> clients, int threadsEach, LockOptions options) throws Exception {
        noUpdateIsLost(clients, threadsEach, options, fixture().attempts());
    }

    private void noUpdateIsLost(List<LockClient> clients, int threadsEach, LockOptions options, int holds)
            throws Exception {
        Guarded guarded = new Guarded();
        int rounds = holds / (clients.size() * threadsEach) + 1;
        List<Call<?>> calls = new ArrayList<>();
        for (LockClient client : clients) {
            DistributedLock lock = client.lock(NAME, options);
            for (int thread = 0; thread < threadsEach; thread++) {
                calls.add(actor(client.name() + "-worker-" + thread).starts(() -> {
                    for (int round = 0; round < rounds; round++) {
                        try (Lease lease = lock.acquire()) {
                            guarded.update(lease.token());
                        }
                        lock.lock();
                        try {
                            guarded.update();
                        } finally {
                            lock.unlock();
                        }
                    }
                }));
            }
        }
        for (Call<?> call : calls) {
            call.get(Duration.ofSeconds(100));
        }
        assertThat(guarded.count).isEqualTo(2 * rounds * calls.size());
        assertThat(guarded.tokensThatDidNotRise).isZero();
        // A grant that is handed on must not use up the tokens of the grants to come.
        try (Lease next = bench().client("observer").lock(NAME).acquire()) {
            assertThat(next.token()).isGreaterThan(guarded.lastToken);
        }
    }
}
