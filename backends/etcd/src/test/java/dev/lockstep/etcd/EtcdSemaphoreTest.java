package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.etcd.Gateway.Kv;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How permits are kept in etcd's keys. */
class EtcdSemaphoreTest extends SingleMemberTestCase {
    private static final LockOptions FAIR = LockOptions.defaults().fair();

    private static Permit get(CompletableFuture<Permit> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    private CompletableFuture<Permit> queue(LockClient client, int limit, int permits) {
        int before = gateway.list(lockPrefix(NAME)).size();
        DistributedSemaphore semaphore = client.semaphore(NAME, limit, FAIR);
        CompletableFuture<Permit> future =
                permits == 1 ? semaphore.acquireAsync() : inAThread(() -> semaphore.acquire(permits));
        await("it is in the queue", () -> gateway.list(lockPrefix(NAME)).size() == before + 1);
        return future;
    }

    private static <T> CompletableFuture<T> inAThread(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(call.call());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    /** The second that waits watches only the first, whose key stays when it holds. */
    @Test
    void aClaimThatHasWaitedLetsTheNextOneIn() throws Exception {
        LockClient holders = connect();
        LockClient waiters = connect();
        Permit one = get(queue(holders, 2, 1));
        Permit two = get(queue(holders, 2, 1));
        CompletableFuture<Permit> three = queue(waiters, 2, 1);
        CompletableFuture<Permit> four = queue(connect(), 2, 1);
        CompletableFuture<Permit> five = queue(waiters, 2, 1);
        one.close();
        two.close();
        Permit third = get(three);
        Permit fourth = get(four);
        assertThat(five).isNotDone();
        assertThat(holders.inspect(NAME).holders()).hasSize(2);
        fourth.close();
        get(five).close();
        third.close();
        await("nothing is left", () -> gateway.list(lockPrefix(NAME)).isEmpty());
    }

    @Test
    void aClaimForManyPermitsIsNotPassed() throws Exception {
        LockClient client = connect();
        Permit one = get(queue(client, 3, 1));
        Permit two = get(queue(client, 3, 1));
        CompletableFuture<Permit> all = queue(connect(), 3, 3);
        CompletableFuture<Permit> behind = queue(connect(), 3, 1);
        assertThat(client.semaphore(NAME, 3).tryAcquire()).isEmpty();
        one.close();
        two.close();
        Permit three = get(all);
        assertThat(behind).isNotDone();
        assertThat(client.inspect(NAME).waiters()).hasSize(1);
        three.close();
        get(behind).close();
    }

    @Test
    void aClaimForManyPermitsThatGivesUpLetsThoseBehindItIn() throws Exception {
        LockClient client = connect();
        Permit one = get(queue(client, 3, 1));
        DistributedSemaphore other = connect().semaphore(NAME, 3, FAIR);
        CompletableFuture<Optional<Permit>> all = inAThread(() -> other.tryAcquire(3, Duration.ofSeconds(3)));
        await("it waits", () -> gateway.list(lockPrefix(NAME)).size() == 2);
        CompletableFuture<Permit> behind = queue(connect(), 3, 1);
        assertThat(all.get(20, TimeUnit.SECONDS)).isEmpty();
        get(behind).close();
        one.close();
    }

    /** The older permit asks last, when a younger one has had a slot and has gone: it must not have that one. */
    @Test
    void tokensRiseForEachSlotWheneverTheyAreAskedFor() throws Exception {
        LockClient client = connect();
        Permit oldest = get(queue(client, 3, 1));
        Permit pair = get(queue(connect(), 3, 2));
        assertThat(pair.slots()).containsExactly(1, 2);
        pair.close();
        Permit third = get(queue(connect(), 3, 1));
        assertThat(third.slot()).isEqualTo(1);
        assertThat(oldest.slot()).isZero();
        oldest.close();
        Permit fourth = get(queue(connect(), 3, 2));
        assertThat(fourth.slots()).containsExactly(0, 2);
        third.close();
        fourth.close();
        assertThat(gateway.list("lockstep/" + namespace + "/slot/")).isEmpty();
    }

    /** A slot that was stored for an older permit, whose holder never asked for it, stays until a holder asks again. */
    @Test
    void slotsOfPermitsThatHaveGoneAreUsedAgain() throws Exception {
        LockClient client = connect();
        Permit silent = get(queue(client, 2, 1));
        Permit asks = get(queue(client, 2, 1));
        assertThat(asks.slot()).isEqualTo(1);
        silent.close();
        asks.close();
        assertThat(gateway.list("lockstep/" + namespace + "/slot/")).hasSize(1);
        Permit next = get(queue(connect(), 2, 1));
        assertThat(next.slot()).isZero();
        assertThat(gateway.list("lockstep/" + namespace + "/slot/")).hasSize(1);
        next.close();
        client.close();
        assertThat(gateway.list("lockstep/" + namespace + "/slot/")).isEmpty();
    }

    @Test
    void moreHoldersThanATransactionHasOperationsHaveSlots() throws Exception {
        DistributedSemaphore semaphore = connect().semaphore(NAME, 150);
        List<CompletableFuture<Permit>> acquiring = new ArrayList<>();
        for (int i = 0; i < 130; i++) {
            acquiring.add(semaphore.acquireAsync());
        }
        Permit youngest = get(acquiring.get(0));
        List<Permit> permits = new ArrayList<>();
        for (CompletableFuture<Permit> future : acquiring) {
            permits.add(get(future));
            youngest = youngest.token() < get(future).token() ? get(future) : youngest;
        }
        assertThat(youngest.slot()).isEqualTo(129);
        Set<Integer> slots = new TreeSet<>();
        for (Permit permit : permits) {
            slots.add(permit.slot());
        }
        assertThat(slots).hasSize(130);
        for (Permit permit : permits) {
            permit.close();
        }
    }

    @Test
    void aNameHasFewKeysHoweverOftenItIsUsed() throws Exception {
        LockClient client = connect();
        Set<String> keys = new TreeSet<>();
        for (int i = 0; i < 50; i++) {
            Permit one = client.semaphore(NAME, 3).acquire();
            Permit two = client.semaphore(NAME, 3).acquire(2);
            two.slots();
            gateway.list("lockstep/" + namespace + "/").forEach(kv -> keys.add(kv.key()));
            one.close();
            two.close();
        }
        assertThat(keys).hasSize(5); // the session, two claims and their slots
    }

    @Test
    void theKeysSayWhatAPermitIs() throws Exception {
        LockClient client = connect();
        try (Permit one = client.semaphore(NAME, 5).acquire();
                Permit three = client.semaphore(NAME, 5).acquire(3)) {
            assertThat(one.isValid() && three.isValid()).isTrue();
            assertThat(gateway.list(lockPrefix(NAME)).stream().map(Kv::key))
                    .allMatch(key -> key.matches(".*/s/5/(\\+3/)?[0-9]+\\.0"))
                    .hasSize(2);
        }
    }

    @Test
    void aClaimOfAnotherKindWritesNothing() throws Exception {
        LockClient client = connect();
        Permit permit = connect().semaphore(NAME, 2).acquire();
        long revision = gateway.revision();
        List<CompletableFuture<?>> refused = List.of(
                client.lock(NAME).acquireAsync(),
                client.lock(NAME, FAIR).acquireAsync(),
                client.readWriteLock(NAME).readLock().acquireAsync(),
                client.semaphore(NAME, 3).acquireAsync());
        for (CompletableFuture<?> future : refused) {
            assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockConfigurationException.class);
        }
        assertThat(gateway.revision()).isEqualTo(revision);
        permit.close();
    }

    @Test
    void keysOfStrangersAreIgnored() throws Exception {
        LockClient client = connect();
        List<String> strange = List.of(
                "",
                "junk",
                "w/",
                "w/0.0",
                "r/3.0",
                "s/",
                "s/2",
                "s/2/",
                "s/2/!",
                "s/2/x",
                "s/3/1.0",
                "s/2/+9/0.0",
                "z");
        strange.forEach(key -> gateway.put(lockPrefix(NAME) + key, "?"));
        Permit one = client.semaphore(NAME, 2).acquire();
        Permit two = client.semaphore(NAME, 2).tryAcquire().orElseThrow();
        assertThat(client.semaphore(NAME, 2).tryAcquire()).isEmpty();
        CompletableFuture<Permit> waiting = connect().semaphore(NAME, 2).acquireAsync();
        await("it waits", () -> client.inspect(NAME).waiters().size() == 1);
        assertThatThrownBy(() -> client.lock(NAME).tryLock()).isInstanceOf(LockConfigurationException.class);
        assertThatThrownBy(() -> client.semaphore(NAME, 3).acquire()).isInstanceOf(LockConfigurationException.class);
        one.close();
        get(waiting).close();
        two.close();
        // And they do not make a semaphore of a lock.
        client.lock(NAME).lock();
        assertThatThrownBy(() -> client.semaphore(NAME, 2).acquire()).isInstanceOf(LockConfigurationException.class);
        client.lock(NAME).unlock();
        assertThat(gateway.list(lockPrefix(NAME))).hasSize(strange.size());
    }
}
