package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Fallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

/** Semaphores: at most so many permits, each with a slot of its own, and none that leaks. */
abstract class SemaphoreContract extends SemaphoreGroup {
    SemaphoreContract(LockContract contract) {
        super(contract);
    }

    @Test
    void anEngineWithoutSemaphoresSaysSo() {
        assumeFalse(fixture().capabilities().contains(Capability.LIMITS), "the engine has semaphores");
        assertThatThrownBy(() -> semaphore(2))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(NAME)
                .hasMessageContaining("semaphores");
    }

    @Test
    @Requires(Capability.LIMITS)
    void noMorePermitsThanTheLimit() throws Exception {
        try (Permit one = semaphore(2).acquire();
                Permit two = rivals(2).tryAcquire().orElseThrow()) {
            assertThat(semaphore(2).tryAcquire()).isEmpty();
            Bench.inVain(
                    Duration.ofMillis(50),
                    wait -> assertThat(rivals(2).tryAcquire(wait)).isEmpty());
            assertThat(one.isValid()).isTrue();
            assertThat(two.isValid()).isTrue();
            assertThat(List.of(one.slot(), two.slot())).containsExactlyInAnyOrder(0, 1);
            assertThat(one.token()).isNotEqualTo(two.token());
            assertThat(one.lockName()).isEqualTo(NAME);
        }
        assertThat(semaphore(2).availablePermits()).isEqualTo(2);
    }

    @Test
    @Requires(Capability.LIMITS)
    void aThreadThatAcquiresTwiceHasTwoPermits() throws Exception {
        try (Permit one = semaphore(2).acquire();
                Permit two = semaphore(2).acquire()) {
            assertThat(one.slot()).isNotEqualTo(two.slot());
            assertThat(rivals(2).tryAcquire()).isEmpty();
        }
    }

    @Test
    @Requires(Capability.LIMITS)
    void aWaiterIsServedByARelease() throws Exception {
        Permit held = rivals(1).acquire();
        Call<Long> waiting = actor("waiter").start(() -> {
            try (Permit permit = semaphore(1).acquire()) {
                assertThat(permit.slot()).isZero();
                return permit.token();
            }
        });
        bench().awaitWaiters(NAME, 1);
        assertThat(waiting.isDone()).isFalse();
        long token = held.token();
        held.close();
        assertThat(waiting.get()).isGreaterThan(token);
    }

    /** Once a call has returned and the permit is released, nobody is there any more: a third client gets it. */
    @Test
    @Requires(Capability.LIMITS)
    void aCallThatTimedOutKeepsNoOtherFromAPermit() throws Exception {
        DistributedSemaphore third = bench().client("third").semaphore(NAME, 1);
        for (int i = 0; i < 40; i++) {
            Permit held = semaphore(1).acquire();
            assertThat(rivals(1).tryAcquire(Duration.ofMillis(5 + i % 10))).isEmpty();
            held.close();
            third.tryAcquire().orElseThrow().close();
        }
    }

    @Test
    @Requires(Capability.LIMITS)
    void aWaitThatIsNegativeOrShorterThanARoundTripIsAnswered() throws Exception {
        for (int i = -1; i < 30; i++) {
            Duration wait = Duration.ofNanos(i * 150_000L);
            Permit permit = semaphore(1).tryAcquire(wait).orElseThrow();
            assertThat(rivals(1).tryAcquire(wait)).isEmpty();
            permit.close();
        }
    }

    @Test
    @Requires(Capability.LIMITS)
    void severalPermitsAreTakenTogetherOrNotAtAll() throws Exception {
        Permit one = rivals(3).acquire();
        assertThat(semaphore(3).tryAcquire(3, Duration.ZERO)).isEmpty();
        assertThat(semaphore(3).availablePermits()).isEqualTo(2);
        try (Permit two = semaphore(3).acquire(2)) {
            assertThat(two.slots()).hasSize(2).doesNotContain(one.slot()).isSorted();
            assertThat(two.slot()).isEqualTo(two.slots().get(0));
            assertThat(semaphore(3).availablePermits()).isZero();
            assertThat(rivals(3).tryAcquire()).isEmpty();
            assertThat(semaphore(3).tryAcquire()).isEmpty();
        }
        Call<List<Integer>> all = actor("all").start(() -> {
            try (Permit three = semaphore(3).acquire(3)) {
                return three.slots();
            }
        });
        bench().awaitWaiters(NAME, 1);
        one.close();
        assertThat(all.get()).containsExactly(0, 1, 2);
        for (int wrong : new int[] {0, -1, 4}) {
            assertThatThrownBy(() -> semaphore(3).acquire(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Two calls that want more than half must not each have a part. */
    @Test
    @Requires(Capability.LIMITS)
    void callsForSeveralPermitsDoNotBlockEachOther() throws Exception {
        List<Call<Boolean>> calls = new ArrayList<>();
        for (LockClient client : List.of(client(), rival())) {
            calls.add(actor(client.name()).starts(() -> {
                for (int i = 0; i < 20; i++) {
                    client.semaphore(NAME, 3).acquire(2).close();
                }
            }));
        }
        for (Call<Boolean> call : calls) {
            call.get();
        }
    }

    @Test
    @Requires({Capability.LIMITS, Capability.FAIR})
    void aFairOneServesInOrder() throws Exception {
        LockOptions fair = LockOptions.defaults().fair();
        Permit held = client().semaphore(NAME, 1, fair).acquire();
        Queue<Integer> order = new ConcurrentLinkedQueue<>();
        List<Call<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            LockClient client = i % 2 == 0 ? client() : rival();
            waiting.add(actor("waiter-" + i).starts(() -> {
                try (Permit permit = client.semaphore(NAME, 1, fair).acquire()) {
                    order.add(number);
                }
            }));
            bench().awaitWaiters(NAME, i + 1);
        }
        held.close();
        for (Call<Boolean> call : waiting) {
            call.get();
        }
        assertThat(List.copyOf(order)).containsExactly(0, 1, 2, 3);
    }

    @Test
    @Requires(Capability.LIMITS)
    void anotherNumberOfPermitsIsRefusedWhoeverComesFirst() throws Exception {
        try (Permit permit = semaphore(2).acquire()) {
            DistributedSemaphore other = rivals(3);
            for (Call.Step step : List.<Call.Step>of(
                    other::acquire,
                    other::tryAcquire,
                    other::availablePermits,
                    () -> other.tryAcquire(Duration.ofSeconds(1)))) {
                assertThatThrownBy(step::run)
                        .isInstanceOf(LockConfigurationException.class)
                        .hasMessageContaining(NAME)
                        .hasMessageContaining("2")
                        .hasMessageContaining("3");
            }
            assertThatThrownBy(() -> other.acquireAsync().get()).hasCauseInstanceOf(LockConfigurationException.class);
            assertThat(permit.isValid()).isTrue();
        }
        try (Permit permit = rivals(3).acquire()) {
            assertThatThrownBy(() -> semaphore(2).acquire()).isInstanceOf(LockConfigurationException.class);
            assertThat(permit.isValid()).isTrue();
        }
    }

    @Test
    @Requires(Capability.LIMITS)
    void aNameIsALockOrASemaphore() throws Exception {
        try (Permit permit = semaphore(2).acquire()) {
            assertThatThrownBy(() -> rivalLock().lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(NAME)
                    .hasMessageContaining("semaphore");
            assertThatThrownBy(() -> rivalLock().tryLock()).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> rival().readWriteLock(NAME).readLock().lock())
                    .isInstanceOf(LockConfigurationException.class);
            assertThat(permit.isValid()).isTrue();
        }
        rivalLock().lock();
        try {
            assertThatThrownBy(() -> semaphore(2).acquire()).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> semaphore(2).tryAcquire()).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> semaphore(2).availablePermits()).isInstanceOf(LockConfigurationException.class);
        } finally {
            rivalLock().unlock();
        }
        semaphore(2).acquire().close();
    }

    @Test
    @Requires(Capability.LIMITS)
    void unusableSemaphoresAreRejected() {
        assertThatThrownBy(() -> semaphore(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client().semaphore("", 1)).isInstanceOf(IllegalArgumentException.class);
        for (LockOptions wrong : List.of(
                LockOptions.defaults().sticky(Duration.ofSeconds(1)),
                LockOptions.defaults().minHold(Duration.ofSeconds(1)))) {
            assertThatThrownBy(() -> client().semaphore(NAME, 2, wrong)).isInstanceOf(LockConfigurationException.class);
        }
        LockClient withFallback = open(builder -> builder.fallback(Fallback.thisJvmOnly()));
        assertThatThrownBy(() -> withFallback.semaphore(NAME, 2)).isInstanceOf(LockConfigurationException.class);
    }

    @Test
    @Requires(Capability.LIMITS)
    void asynchronousCallsHoldNoThread() throws Exception {
        Permit held = rivals(1).acquire();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            // Requests of one client may arrive at an engine in another order.
            served.add(semaphore(1).acquireAsync().thenCompose(Permit::closeAsync));
        }
        bench().awaitWaiters(NAME, 20);
        held.close();
        for (CompletableFuture<Void> one : served) {
            one.get(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** At most so many at once, unique slots, and tokens that rise for each slot, from several clients and threads. */
    @Test
    @Requires(Capability.LIMITS)
    void permitsAreCountedAndFencedUnderLoad() throws Exception {
        int permits = 3;
        int times = Math.max(20, fixture().attempts() / 20);
        AtomicInteger inside = new AtomicInteger();
        AtomicLongArray highest = new AtomicLongArray(permits);
        AtomicReferenceArray<Permit> owners = new AtomicReferenceArray<>(permits);
        Queue<String> faults = new ConcurrentLinkedQueue<>();
        CountDownLatch start = new CountDownLatch(1);
        List<Call<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            DistributedSemaphore semaphore = i % 2 == 0 ? semaphore(permits) : rivals(permits);
            calls.add(actor("worker-" + i).starts(() -> {
                start.await();
                for (int round = 0; round < times; round++) {
                    int count = ThreadLocalRandom.current().nextInt(5) == 0 ? 2 : 1;
                    try (Permit permit = semaphore.acquire(count)) {
                        if (inside.addAndGet(count) > permits) {
                            faults.add("more than " + permits + " at once");
                        }
                        for (int slot : permit.slots()) {
                            Permit other = owners.getAndSet(slot, permit);
                            if (other != null) {
                                faults.add("two have slot " + slot);
                            }
                            if (highest.getAndSet(slot, permit.token()) >= permit.token()) {
                                faults.add("a token of slot " + slot + " did not rise");
                            }
                        }
                        permit.slots().forEach(slot -> owners.set(slot, null));
                        inside.addAndGet(-count);
                    }
                }
            }));
        }
        start.countDown();
        for (Call<Boolean> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
        assertThat(faults).isEmpty();
        assertThat(semaphore(permits).availablePermits()).isEqualTo(permits);
    }
}
