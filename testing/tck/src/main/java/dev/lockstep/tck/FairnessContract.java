package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A fair lock is first come, first served; one that is not starves nobody either. */
abstract class FairnessContract extends ContractGroup {
    private static final LockOptions FAIR = LockOptions.defaults().fair();

    FairnessContract(LockContract contract) {
        super(contract);
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairLockServesTheThreadsOfAllClientsInOrderOfArrival() throws Exception {
        DistributedLock held = client().lock(NAME, FAIR);
        held.lock();
        List<Integer> served = Collections.synchronizedList(new ArrayList<>());
        List<Integer> arrived = new ArrayList<>();
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            int number = i;
            // The holder's own client is among them: a fair lock is never handed to a local thread out of turn.
            LockClient client =
                    List.of(client(), rival(), bench().client("third")).get(i % 3);
            calls.add(actor("waiter-" + i).starts(() -> {
                DistributedLock lock = client.lock(NAME, FAIR);
                lock.lock();
                served.add(number);
                lock.unlock();
            }));
            arrived.add(number);
            bench().awaitWaiters(NAME, i + 1);
        }
        held.unlock();
        for (Call<?> call : calls) {
            call.get();
        }
        assertThat(served).isEqualTo(arrived);
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairLockServesAsynchronousCallsInOrderOfArrival() throws Exception {
        Lease held = client().lock(NAME, FAIR).acquire();
        List<Integer> served = Collections.synchronizedList(new ArrayList<>());
        List<Integer> arrived = new ArrayList<>();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int number = i;
            LockClient client = i % 2 == 0 ? client() : rival();
            done.add(client.lock(NAME, FAIR).acquireAsync().thenCompose(lease -> {
                served.add(number);
                return lease.closeAsync();
            }));
            arrived.add(number);
            bench().awaitWaiters(NAME, i + 1);
        }
        held.close();
        for (CompletableFuture<Void> future : done) {
            future.get(20, TimeUnit.SECONDS);
        }
        assertThat(served).isEqualTo(arrived);
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairWaiterThatGivesUpIsSkipped() throws Exception {
        DistributedLock held = client().lock(NAME, FAIR);
        held.lock();
        List<Call<?>> calls = new ArrayList<>();
        List<Integer> served = Collections.synchronizedList(new ArrayList<>());
        List<Actor> waiters = bench().actors("waiter", 3);
        for (int i = 0; i < 3; i++) {
            int number = i;
            LockClient client = i == 1 ? rival() : bench().client("third");
            calls.add(waiters.get(i).starts(() -> {
                DistributedLock lock = client.lock(NAME, FAIR);
                try {
                    lock.lockInterruptibly();
                } catch (InterruptedException e) {
                    return;
                }
                served.add(number);
                lock.unlock();
            }));
            bench().awaitWaiters(NAME, i + 1);
        }
        waiters.get(1).interrupt();
        bench().awaitWaiters(NAME, 2);
        held.unlock();
        for (Call<?> call : calls) {
            call.get();
        }
        assertThat(served).containsExactly(0, 2);
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairLockIsReenteredBeforeItsWaiters() throws Exception {
        DistributedLock held = client().lock(NAME, FAIR);
        held.lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> rival().lock(NAME, FAIR).lock());
        bench().awaitWaiters(NAME, 1);
        held.lock();
        assertThat(held.holdCount()).isEqualTo(2);
        held.unlock();
        held.unlock();
        waiting.get();
        waiter.does(() -> rival().lock(NAME, FAIR).unlock());
    }

    @Test
    void aBusyClientDoesNotStarveAnother() throws Exception {
        aBusyClientDoesNotStarve(LockOptions.defaults());
    }

    @Test
    void aBusyClientThatHandsNothingOffDoesNotStarveAnother() throws Exception {
        aBusyClientDoesNotStarve(LockOptions.defaults().handOff(0));
    }

    private void aBusyClientDoesNotStarve(LockOptions options) throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        Guard guard = new Guard();
        List<Call<?>> busy = new ArrayList<>();
        for (Actor actor : bench().actors("busy", 6)) {
            busy.add(actor.starts(() -> {
                DistributedLock lock = client().lock(NAME, options);
                while (!enough.get()) {
                    try (Lease lease = lock.acquire()) {
                        guard.use(lease.token());
                        LockSupport.parkNanos(200_000);
                    }
                }
            }));
        }
        try {
            for (int i = 0; i < 10; i++) {
                try (Lease lease = rivalLock().tryAcquire(Bench.PATIENCE).orElseThrow()) {
                    guard.use(lease.token());
                }
            }
        } finally {
            enough.set(true);
        }
        for (Call<?> call : busy) {
            call.get();
        }
        assertThat(guard.disorder).isZero();
    }

    @Test
    void aThreadThatWaitsIsNotBypassedIndefinitely() throws Exception {
        // A thread that takes the lock again as soon as it has released it is faster than one that must be woken: it
        // may barge, but not without end.
        AtomicBoolean enough = new AtomicBoolean();
        AtomicInteger holds = new AtomicInteger();
        Call<Boolean> barging = actor("barging").starts(() -> {
            while (!enough.get()) {
                lock().lock();
                holds.incrementAndGet();
                LockSupport.parkNanos(100_000);
                lock().unlock();
            }
        });
        try {
            Bench.await("the lock is in use", () -> holds.get() > 0);
            List<Integer> bypassed = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                int before = holds.get();
                try (Lease lease = lock().tryAcquire(Bench.PATIENCE).orElseThrow()) {
                    assertThat(lease.isValid()).isTrue();
                    bypassed.add(holds.get() - before);
                }
            }
            // This thread may be paused before it waits, and hundreds pass it meanwhile; but not most times.
            assertThat(bypassed.stream().sorted().toList().get(2))
                    .as("the middle of %s", bypassed)
                    .isLessThan(1_000);
        } finally {
            enough.set(true);
        }
        barging.get();
    }

    @Test
    void twoBusyClientsShareTheLock() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        int[] holds = new int[2];
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int side = i % 2;
            DistributedLock lock = side == 0 ? lock() : rivalLock();
            calls.add(actor("busy-" + i).starts(() -> {
                while (!enough.get()) {
                    lock.lock();
                    holds[side]++;
                    LockSupport.parkNanos(100_000);
                    lock.unlock();
                }
            }));
        }
        try {
            DistributedLock observed = bench().client("observer").lock(NAME);
            Bench.await("both clients have had the lock", () -> {
                try (Lease lease = observed.tryAcquire(Duration.ofSeconds(20)).orElseThrow()) {
                    return lease.isValid() && holds[0] >= 100 && holds[1] >= 100;
                }
            });
        } finally {
            enough.set(true);
        }
        for (Call<?> call : calls) {
            call.get();
        }
    }

    /** Plain fields that the lock guards. */
    private static final class Guard {
        long last;
        int disorder;

        void use(long token) {
            if (token <= last) {
                disorder++;
            }
            last = token;
        }
    }
}
