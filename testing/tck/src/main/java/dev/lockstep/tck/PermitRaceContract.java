package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.Permit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** Permits that meet: behind one who waits for several, after a loss, and on a name that others use for something else. */
abstract class PermitRaceContract extends SemaphoreGroup {
    PermitRaceContract(LockContract contract) {
        super(contract);
    }

    // ---------------------------------------------------------------- waiting

    @Test
    @Requires({Capability.LIMITS, Capability.FAIR})
    void aCallForSeveralPermitsIsNotPassedUntilItGivesUp() throws Exception {
        Permit held = rivals(2).acquire();
        Actor many = actor("many");
        Call<Boolean> both = many.starts(() -> semaphore(2).acquire(2));
        bench().awaitWaiters(NAME, 1);
        Call<Permit> one = actor("one").start(() -> rivals(2).acquire());
        bench().awaitWaiters(NAME, 2);
        assertThat(semaphore(2).tryAcquire()).isEmpty();
        assertThat(rivals(2).tryAcquire()).isEmpty();
        assertThat(one.isDone()).isFalse();
        many.interrupt();
        assertThatThrownBy(both::get).isInstanceOf(InterruptedException.class);
        Permit next = one.get();
        assertThat(next.slot()).isNotEqualTo(held.slot());
        next.close();
        held.close();
        assertThat(semaphore(2).availablePermits()).isEqualTo(2);
    }

    @Test
    @Requires({Capability.LIMITS, Capability.FAIR})
    void aReleaseOfSeveralPermitsLetsInAllThatFit() throws Exception {
        Permit held = rivals(3).acquire(3);
        List<Call<Permit>> waiting = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            DistributedSemaphore semaphore = i % 2 == 0 ? semaphore(3) : rivals(3);
            waiting.add(actor("waiter-" + i).start(semaphore::acquire));
            bench().awaitWaiters(NAME, i + 1);
        }
        held.close();
        List<Permit> served = new ArrayList<>();
        for (Call<Permit> call : waiting.subList(0, 3)) {
            served.add(call.get());
        }
        assertThat(waiting.get(3).isDone()).isFalse();
        List<Integer> slots = served.stream().map(Permit::slot).toList();
        assertThat(slots).containsExactlyInAnyOrder(0, 1, 2);
        List<Long> tokens = served.stream().mapToLong(Permit::token).boxed().toList();
        assertThat(tokens).isSorted().allMatch(token -> token > held.token());
        served.get(1).close();
        Permit last = waiting.get(3).get();
        assertThat(last.slot()).isEqualTo(served.get(1).slot());
        assertThat(last.token()).isGreaterThan(served.get(2).token());
        last.close();
        served.get(0).close();
        served.get(2).close();
    }

    @Test
    @Requires({Capability.LIMITS, Capability.BREAK_CONNECTION})
    void theCrashOfACallForSeveralPermitsLetsTheNextOneIn() throws Exception {
        LockClient cutOff = openShortLived("cut off");
        Permit held = rivals(2).acquire();
        Actor many = actor("many");
        Call<Boolean> both = many.starts(() -> cutOff.semaphore(NAME, 2).acquire(2));
        bench().awaitWaiters(NAME, 1);
        Call<Permit> one = actor("one").start(() -> rivals(2).acquire());
        bench().awaitWaiters(NAME, 2);
        fixture().breakConnection(cutOff);
        Permit next = one.get(shortTtl().plus(Bench.PATIENCE));
        many.interrupt();
        assertThatThrownBy(both::get).isInstanceOfAny(InterruptedException.class, LockUnavailableException.class);
        fixture().healConnection(cutOff);
        assertThat(next.isValid() && held.isValid()).isTrue();
        next.close();
        held.close();
    }

    // ---------------------------------------------------------------- slots

    /** Whenever they are asked for, by whomever, and however the permits before them have ended. */
    @Test
    @Requires(Capability.LIMITS)
    void slotsAreUniqueAndTheirTokensRiseWheneverTheyAreAskedFor() throws Exception {
        long seed = new Random().nextLong();
        Random random = random(seed);
        int permits = 4;
        List<DistributedSemaphore> semaphores = List.of(semaphore(permits), rivals(permits));
        Map<Permit, Integer> held = new LinkedHashMap<>(); // in an order that the seed decides
        Map<Integer, Permit> owners = new HashMap<>();
        long[] highest = new long[permits];
        for (int step = 0; step < 150; step++) {
            String where = "seed " + seed + ", step " + step;
            int count = 1 + random.nextInt(2);
            int used = held.values().stream().mapToInt(Integer::intValue).sum();
            if (held.isEmpty() || used + count <= permits && random.nextInt(3) == 0) {
                Optional<Permit> next = semaphores.get(random.nextInt(2)).tryAcquire(count, Duration.ZERO);
                assertThat(next).as(where).isPresent();
                held.put(next.get(), count);
                continue;
            }
            List<Permit> all = new ArrayList<>(held.keySet());
            Permit any = all.get(random.nextInt(all.size()));
            int choice = random.nextInt(10);
            if (choice < 5) {
                assertThat(any.slots())
                        .as(where)
                        .hasSize(held.getOrDefault(any, 0))
                        .isSorted();
                for (int slot : any.slots()) {
                    Permit owner = owners.put(slot, any);
                    if (owner != any) {
                        assertThat(owner)
                                .as("%s: the owner of slot %s", where, slot)
                                .isNull();
                        assertThat(any.token()).as(where).isGreaterThan(highest[slot]);
                        highest[slot] = any.token();
                    }
                }
                continue;
            }
            held.remove(any);
            owners.values().removeIf(any::equals);
            if (choice < 8) {
                any.close();
            } else {
                assertThat(rival().forceRelease(NAME, any.token())).as(where).isTrue();
                if (choice == 8) {
                    assertThatThrownBy(any::close).as(where).isInstanceOf(LockLostException.class);
                }
            }
        }
        held.keySet().forEach(Permit::close);
        assertThat(semaphore(permits).availablePermits()).as("seed %s", seed).isEqualTo(permits);
    }

    /** The holder may not know yet that it has lost its permit; the engine may have forgotten it. */
    @Test
    @Requires(Capability.LIMITS)
    void aSlotThatIsAskedForAfterTheLossIsNoFailureOfTheEngine() throws Exception {
        Permit lost = openShortLived("holder").semaphore(NAME, 2).acquire();
        assertThat(rival().forceRelease(NAME, lost.token())).isTrue();
        try (Permit others = rivals(2).acquire(2)) {
            assertThat(others.slots()).containsExactly(0, 1);
            try {
                assertThat(lost.slot()).isBetween(0, 1); // an engine may give slots with the permit
            } catch (LockLostException e) {
                assertThat(lost.isValid()).isFalse();
            }
            Bench.await("it is lost", () -> !lost.isValid());
            assertThat(others.isValid()).isTrue();
        }
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
    }

    // ---------------------------------------------------------------- names

    @Test
    @Requires(Capability.LIMITS)
    void aMultiLockWithTheNameOfASemaphoreTakesNothing() throws Exception {
        String other = "order:41"; // asked for first
        try (Permit permit = rivals(2).acquire()) {
            assertThatThrownBy(() -> client().multiLock(other, NAME).acquire())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(NAME);
            bench().awaitFree(other);
            assertThat(permit.isValid()).isTrue();
        }
    }

    /** One way to use the name. */
    private record Use(String kind, int limit, Call.Work<Lease> acquire) {}

    /** The current kind of the name, as its holders say. */
    private static final class Meaning {
        private String kind = "";
        private int holders;

        synchronized void begins(Use use, Queue<String> faults) {
            if (holders > 0 && !kind.equals(use.kind)) {
                faults.add(use.kind + " beside " + kind);
            }
            kind = use.kind;
            holders++;
            if (holders > use.limit) {
                faults.add(holders + " of " + use.kind);
            }
        }

        synchronized void ends() {
            holders--;
        }
    }

    /** Whichever client comes first: the others are refused or wait, and no client holds beside another kind. */
    @Test
    @Requires(Capability.LIMITS)
    void aNameIsNeverTwoThingsAtOnce() throws Exception {
        Meaning meaning = new Meaning();
        Queue<String> faults = new ConcurrentLinkedQueue<>();
        CountDownLatch start = new CountDownLatch(1);
        List<Call<Boolean>> calls = new ArrayList<>();
        for (LockClient client : List.of(client(), rival())) {
            DistributedLock lock = client.lock(NAME);
            DistributedLock readLock = client.readWriteLock(NAME).readLock();
            List<Use> uses = List.of(
                    new Use("a lock", 1, lock::acquire),
                    new Use("a read lock", Integer.MAX_VALUE, readLock::acquire),
                    new Use("two permits", 2, client.semaphore(NAME, 2)::acquire),
                    new Use("three permits", 3, client.semaphore(NAME, 3)::acquire));
            for (int i = 0; i < 3; i++) {
                calls.add(actor(client.name() + "-" + i).starts(() -> {
                    start.await();
                    for (int round = 0; round < 25; round++) {
                        Use use = uses.get(ThreadLocalRandom.current().nextInt(uses.size()));
                        try (Lease lease = use.acquire.run()) {
                            meaning.begins(use, faults);
                            Thread.onSpinWait();
                            lease.ensureValid();
                            meaning.ends();
                        } catch (LockConfigurationException e) {
                            Thread.onSpinWait(); // another client was first
                        }
                    }
                }));
            }
        }
        start.countDown();
        for (Call<Boolean> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
        assertThat(faults).isEmpty();
        semaphore(3).acquire(3).close();
        rivalLock().lock();
        rivalLock().unlock();
    }
}
