package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.Permit;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of semaphores: no more than that of locks, as long as no client asks for slots. */
@Timeout(120)
class SemaphoreCostTest extends CountedClients {
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anUncontendedPairCostsThreeRequests(int permits) throws Exception {
        takeTurns(permits, 1);
        long before = requests(client);
        takeTurns(permits, TIMES);
        assertThat(requests(client) - before).isBetween(3L * TIMES, 3L * TIMES + NOISE);
    }

    private void takeTurns(int permits, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            client.semaphore("pair-" + permits, permits).acquire().close();
            rival.semaphore("pair-" + permits, permits).acquire().close();
        }
    }

    @Test
    void aPairBesideOtherHoldersCostsThreeRequests() throws Exception {
        try (Permit other = rival.semaphore("beside", 2).acquire()) {
            DistributedSemaphore semaphore = client.semaphore("beside", 2);
            semaphore.acquire().close();
            long most = 7L * BLOCK / 2; // and one more for each hold that took long on a busy machine
            assertThat(leastOfBlocks(most, () -> requests(client), times -> takeAndGiveBack(semaphore, times)))
                    .isBetween(3L * BLOCK, most);
            assertThat(other.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aClientAloneWithASemaphoreListsNoQueue(int permits) throws Exception {
        DistributedSemaphore semaphore = client.semaphore("alone-" + permits, permits);
        takeAndGiveBack(semaphore, 15);
        long most = 5L * BLOCK / 2;
        assertThat(leastOfBlocks(most, () -> requests(client), times -> takeAndGiveBack(semaphore, times)))
                .isBetween(2L * BLOCK, most);
    }

    private static void takeAndGiveBack(DistributedSemaphore semaphore, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            semaphore.acquire().close();
        }
    }

    @Test
    void aPairTakesTwoRoundTrips() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            DistributedSemaphore semaphore = open("far", proxy.port(), "").semaphore("far", 2);
            semaphore.acquire().close();
            Duration eachWay = Duration.ofMillis(250); // long enough for a busy machine to count as none
            proxy.delay(eachWay);
            // One more round trip would be there in each try; a busy machine delays some, but not all.
            long best = Long.MAX_VALUE;
            for (int i = 0; i < 30 && best > eachWay.multipliedBy(6).toNanos(); i++) {
                long start = System.nanoTime();
                semaphore.acquire().close();
                best = Math.min(best, System.nanoTime() - start);
            }
            proxy.delay(Duration.ZERO);
            assertThat(Duration.ofNanos(best)).isBetween(eachWay.multipliedBy(4), eachWay.multipliedBy(6));
        }
    }

    @Test
    void aReleaseWakesTheFirstWaiterAndThatOneTheNext() throws Exception {
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            held.add(client.semaphore("queue", 3).acquire());
        }
        List<LockClient> waiters = new ArrayList<>();
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(open("waiter-" + i, server.port(), ""));
            waiting.add(waiters.get(i).semaphore("queue", 3).acquireAsync());
            awaitWaiters("queue", i + 1);
        }
        for (int i = 0; i < 3; i++) {
            List<Long> before = new ArrayList<>();
            for (LockClient waiter : waiters) {
                before.add(events(waiter));
            }
            held.get(i).close();
            waiting.get(i).get(20, TimeUnit.SECONDS);
            for (int other = i + 2; other < 4; other++) {
                long events = events(waiters.get(other)) - before.get(other);
                assertThat(events).as("events of waiter %d", other).isZero();
            }
        }
        assertThat(waiting.get(3)).isNotDone();
        waiting.get(1).get().close();
        waiting.get(3).get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void aHandOffOfTheOnlyPermitCostsNoMoreThanThatOfALock() throws Exception {
        LockClient waiter = open("waiter", server.port(), "");
        List<Long> deletes = new ArrayList<>();
        List<Long> lists = new ArrayList<>();
        int times = 15;
        for (int i = 0; i < times; i++) {
            Permit held = client.semaphore("hand-off", 1).acquire();
            CompletableFuture<Permit> waiting = waiter.semaphore("hand-off", 1).acquireAsync();
            awaitWaiters("hand-off", 1);
            long holdersBefore = requests(client);
            long waitersBefore = requests(waiter);
            held.close();
            Permit next = waiting.get(20, TimeUnit.SECONDS);
            deletes.add(requests(client) - holdersBefore);
            lists.add(requests(waiter) - waitersBefore);
            next.close();
        }
        // Heartbeats come between, and on a busy machine what belongs to the wait may come late; but not mostly.
        assertThat(deletes.stream().sorted().toList().get(times / 2)).isEqualTo(1);
        assertThat(lists.stream().sorted().toList().get(times / 2)).isLessThanOrEqualTo(1);
    }

    @Test
    void slotsCostThreeRequestsOnce() throws Exception {
        try (Permit permit = client.semaphore("slots", 4).acquire()) {
            // It has been held for a moment, and watches its node.
            Awaitility.await().atMost(SOON).until(() -> server.report("wchp").contains("/slots/"));
            long before = requests(client);
            assertThat(permit.slot()).isZero();
            assertThat(permit.slot()).isZero();
            assertThat(requests(client) - before).isBetween(3L, 4L);
        }
    }

    @Test
    void aTryThatFailsAndAClaimThatIsRefusedLeaveNothing() throws Exception {
        try (Permit held = client.semaphore("busy", 2).acquire(2)) {
            long nodes = server.metric("zk_znode_count");
            long before = requests(rival);
            for (int i = 0; i < TIMES; i++) {
                assertThat(rival.semaphore("busy", 2).tryAcquire()).isEmpty();
            }
            assertThat(requests(rival) - before).isBetween(3L * TIMES, 3L * TIMES + NOISE);
            assertThatThrownBy(() -> rival.semaphore("busy", 3).acquire())
                    .isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> rival.lock("busy").tryLock()).isInstanceOf(LockConfigurationException.class);
            assertThat(server.metric("zk_znode_count")).isEqualTo(nodes);
            assertThat(held.isValid()).isTrue();
        }
    }
}
