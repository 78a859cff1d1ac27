package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many waiters and many locks cost the engine and the client little for each. */
abstract class ScaleContract extends ContractGroup {
    private static final int WAITERS = 1_000;

    /** How many requests the test itself has on their way at a time; a client may use a bounded pool. */
    private static final int IN_FLIGHT = 100;

    ScaleContract(LockContract contract) {
        super(contract);
    }

    @Alone
    @Test
    @Tag("full")
    void aThousandWaitersOfOneClientAreOneToTheEngine() throws Exception {
        rivalLock().lock();
        int[] guarded = new int[1];
        AtomicInteger mostWaiting = new AtomicInteger();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            done.add(lock().acquireAsync().thenCompose(lease -> {
                guarded[0]++;
                return lease.closeAsync();
            }));
        }
        bench().awaitWaiters(NAME, 1);
        long before = requests();
        rivalLock().unlock();
        Bench.await("all are served", () -> {
            mostWaiting.accumulateAndGet(rival().inspect(NAME).waiters().size(), Math::max);
            return done.stream().allMatch(CompletableFuture::isDone);
        });
        for (CompletableFuture<Void> future : done) {
            future.get(1, TimeUnit.SECONDS);
        }
        assertThat(guarded[0]).isEqualTo(WAITERS);
        assertThat(mostWaiting.get()).isLessThanOrEqualTo(1);
        assertRequestsPerHold(before, WAITERS);
    }

    @Test
    void hundredsOfWaitingThreadsAreEachServedOnce() throws Exception {
        int threads = 200;
        rivalLock().lock();
        int[] guarded = new int[1];
        List<Call<?>> calls = new ArrayList<>();
        List<Actor> actors = bench().actors("waiter", threads);
        for (int i = 0; i < threads; i++) {
            LockClient client = i % 2 == 0 ? client() : bench().client("third");
            calls.add(actors.get(i).starts(() -> {
                client.lock(NAME).lock();
                guarded[0]++;
                client.lock(NAME).unlock();
            }));
        }
        actors.forEach(Actor::awaitParked);
        bench().awaitWaiters(NAME, 2);
        rivalLock().unlock();
        for (Call<?> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
        assertThat(guarded[0]).isEqualTo(threads);
    }

    @Alone
    @Test
    @Tag("full")
    void aThousandWaitersOfManyClientsAreWokenOneByOne() throws Exception {
        int clients = 10;
        areServedOneByOne(LockOptions.defaults(), clients, WAITERS, clients);
    }

    /** Each call for a fair lock has a place of its own at the engine, so that clients take turns. */
    @Alone
    @Test
    @Requires({Capability.FAIR, Capability.PUSH, Capability.COUNT_REQUESTS})
    void aReleaseWakesOnlyTheNextOfManyClients() throws Exception {
        int clients = 20; // twice the requests that a hold may cost: too many if each of them asks at each release
        int waiters = 400;
        areServedOneByOne(LockOptions.defaults().fair(), clients, waiters, waiters);
    }

    /**
     * All are served, in few requests each.
     *
     * @param places how many of them the engine sees
     */
    private void areServedOneByOne(LockOptions options, int clients, int waiters, int places) throws Exception {
        Lease held = rival().lock(NAME, options).acquireAsync().get();
        int[] guarded = new int[1];
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            LockClient client = bench().client("client-" + i % clients);
            done.add(client.lock(NAME, options).acquireAsync().thenCompose(lease -> {
                guarded[0]++;
                return lease.closeAsync();
            }));
        }
        bench().awaitWaiters(NAME, places);
        long before = requests();
        held.close();
        for (CompletableFuture<Void> future : done) {
            future.get(60, TimeUnit.SECONDS);
        }
        assertThat(guarded[0]).isEqualTo(waiters);
        assertRequestsPerHold(before, waiters);
    }

    @Alone
    @Test
    @Tag("full")
    void aThousandLocksStayValidAndNothingIsLeftOfThem() throws Exception {
        staysValidAndNothingIsLeft(1_000, shortTtl().multipliedBy(3));
    }

    /**
     * Their ttl leaves time to take, to list and to release ten thousand locks on a machine that has other work, too: at a
     * load of 50, a ttl of 9 s was over before the last of them was released.
     */
    @Alone
    @Test
    @Tag("full")
    void tenThousandLocksStayValidAndNothingIsLeftOfThem() throws Exception {
        staysValidAndNothingIsLeft(10_000, shortTtl().multipliedBy(12));
    }

    private void staysValidAndNothingIsLeft(int locks, Duration ttl) throws Exception {
        LockClient client = open(builder -> builder.clientName("hoarder").ttl(ttl));
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
        int threads = Thread.activeCount();
        List<CompletableFuture<Lease>> acquiring = new ArrayList<>();
        Semaphore inFlight = new Semaphore(IN_FLIGHT);
        for (int i = 0; i < locks; i++) {
            assertThat(inFlight.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            acquiring.add(client.lock("held-" + i).acquireAsync().whenComplete((lease, error) -> inFlight.release()));
        }
        List<Lease> leases = new ArrayList<>();
        for (CompletableFuture<Lease> future : acquiring) {
            leases.add(future.get(20, TimeUnit.SECONDS));
        }
        long before = requests();
        Bench.letPass(ttl.plus(ttl.dividedBy(4)));
        assertThat(leases.stream().filter(lease -> !lease.isValid()).count()).isZero();
        assertThat(Thread.activeCount() - threads).isLessThan(Bench.FEW_THREADS);
        if (fixture().capabilities().contains(Capability.COUNT_REQUESTS)) {
            // Renewal is by session or in batches. One request for each lock would be four times the number of locks;
            // the
            // hundred are for what a client asks that has none.
            assertThat(fixture().requestCount() - before).isLessThan(locks / 10 + 100);
        }
        LockClient patient = open(builder -> builder.clientName("patient").requestTimeout(Bench.PATIENCE));
        assertThat(patient.list("held-")).hasSize(locks);
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        for (Lease lease : leases) {
            assertThat(inFlight.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            closing.add(lease.closeAsync().whenComplete((nothing, error) -> inFlight.release()));
        }
        for (CompletableFuture<Void> future : closing) {
            future.get(20, TimeUnit.SECONDS);
        }
        assertThat(patient.list("held-")).isEmpty();
    }

    private long requests() {
        return fixture().capabilities().contains(Capability.COUNT_REQUESTS)
                ? fixture().requestCount()
                : 0;
    }

    /** A release wakes one waiter: a handful of requests for each hold, however many wait. */
    private void assertRequestsPerHold(long before, int holds) {
        if (fixture().capabilities().contains(Capability.COUNT_REQUESTS)
                && fixture().capabilities().contains(Capability.PUSH)) {
            assertThat(fixture().requestCount() - before).isLessThan(10L * holds);
        }
    }
}
