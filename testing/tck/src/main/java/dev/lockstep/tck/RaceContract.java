package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Giving up races being granted: whichever wins, the lock is released and nothing is left. Each test makes many
 * attempts, whose timing comes from a seed that a failure names. An attempt begins by taking the lock within a bound,
 * so a ghost of the attempt before fails it.
 */
abstract class RaceContract extends ContractGroup {
    /** Far below the ttl: a ghost is renewed anyway, and must not be outlived by its ttl either. */
    private static final Duration BOUND = Duration.ofSeconds(10);

    /** A waiter that gives up while the holder releases. */
    @FunctionalInterface
    private interface Attempt {
        /**
         * Runs once.
         *
         * @param release lets the holder release, in its own time
         */
        void run(DistributedLock waiting, Random random, Runnable release) throws Exception;
    }

    private @Nullable Actor interrupter;

    /** The wait of the timed attempts; adapts to the engine's speed. */
    private long waitNanos = 200_000;

    RaceContract(LockContract contract) {
        super(contract);
    }

    @Test
    void anInterruptRacesAGrantByAnotherClient() throws Exception {
        race(rivalLock(), this::interrupted);
    }

    @Test
    void anInterruptRacesAGrantByAnotherThread() throws Exception {
        race(lock(), this::interrupted);
    }

    @Test
    void aTimeoutRacesAGrantByAnotherClient() throws Exception {
        race(rivalLock(), this::timedOut);
    }

    @Test
    void aTimeoutRacesAGrantByAnotherThread() throws Exception {
        race(lock(), this::timedOut);
    }

    @Test
    void aCancellationRacesAGrantByAnotherClient() throws Exception {
        race(rivalLock(), this::cancelled);
    }

    @Test
    void aCancellationRacesAGrantByAnotherThread() throws Exception {
        race(lock(), this::cancelled);
    }

    @Test
    void anAsynchronousTimeoutRacesAGrantByAnotherClient() throws Exception {
        race(rivalLock(), this::timedOutAsync);
    }

    @Test
    @Requires(Capability.FAIR)
    void aCancellationRacesAGrantOfAFairLock() throws Exception {
        race(
                rival().lock(NAME, LockOptions.defaults().fair()),
                LockOptions.defaults().fair(),
                this::cancelled);
    }

    @Test
    @Requires(Capability.FAIR)
    void anInterruptRacesAGrantOfAFairLock() throws Exception {
        race(
                rival().lock(NAME, LockOptions.defaults().fair()),
                LockOptions.defaults().fair(),
                this::interrupted);
    }

    @Test
    @Requires(Capability.SHARED)
    void aCancelledWriterRacesTheReadersBehindIt() throws Exception {
        DistributedLock readLock = rival().readWriteLock(NAME).readLock();
        for (int seed = 0; seed < fixture().attempts() / 4; seed++) {
            Random random = random(seed);
            Lease held = readLock.tryAcquire(BOUND).orElseThrow(ghost(seed));
            CompletableFuture<Lease> writer = lock().acquireAsync();
            CompletableFuture<Lease> reader =
                    bench().client("third").readWriteLock(NAME).readLock().acquireAsync();
            spin(random);
            if (random.nextBoolean()) {
                writer.cancel(false);
                spin(random);
                held.close();
            } else {
                held.close();
                spin(random);
                writer.cancel(false);
            }
            closeIfGranted(writer);
            bounded(reader, seed).close();
        }
    }

    @Test
    void twoClosesRaceOnOneLease() throws Exception {
        Actor one = actor("one");
        Actor two = actor("two");
        Actor waiter = actor("waiter");
        for (int seed = 0; seed < fixture().attempts(); seed++) {
            Random random = random(seed);
            Lease lease = bounded(lock().acquireAsync(), seed);
            int spinsOfOne = random.nextInt(200);
            int spinsOfTwo = random.nextInt(200);
            // The next hold of the same client must survive the second close.
            Call<Lease> next = waiter.start(() -> bounded(lock().acquireAsync(), -1));
            CountDownLatch start = new CountDownLatch(1);
            Call<Boolean> first = one.starts(() -> {
                start.await();
                spin(spinsOfOne);
                lease.close();
            });
            Call<Boolean> second = two.starts(() -> {
                start.await();
                spin(spinsOfTwo);
                lease.close();
            });
            start.countDown();
            first.get();
            second.get();
            Lease kept = next.get();
            assertThat(kept.isValid()).as("seed %d", seed).isTrue();
            assertThat(seed % 50 == 0 && bench().isFree(NAME))
                    .as("seed %d", seed)
                    .isFalse();
            kept.close();
        }
    }

    @Test
    void aReleaseRacesTheEndOfTheMaximumTime() throws Exception {
        Actor holder = actor("holder");
        int attempts = Math.min(500, fixture().attempts());
        for (int i = 0; i < attempts; i++) {
            int seed = i;
            Random random = random(seed);
            Duration bound = Duration.ofNanos(1_000_000 + random.nextInt(1_000_000));
            DistributedLock leased = client().lock(NAME, LockOptions.defaults().maxHold(bound));
            holder.does(() -> {
                leased.lock();
                long end = System.nanoTime() + bound.toNanos() - 300_000 + random.nextInt(600_000);
                while (System.nanoTime() - end < 0) {
                    Thread.onSpinWait();
                }
                try {
                    leased.unlock();
                } catch (LockLostException e) {
                    // It came too late: this end is fine, too.
                }
                assertThat(leased.holdCount()).as("seed %d", seed).isZero();
            });
            rivalLock().tryAcquire(BOUND).orElseThrow(ghost(seed)).close();
        }
    }

    @Test
    void aClientsCloseRacesItsGrants() throws Exception {
        int attempts = Math.min(200, fixture().attempts() / 10);
        for (int i = 0; i < attempts; i++) {
            int seed = i;
            Random random = random(seed);
            LockClient brief = open(builder -> builder.clientName("brief"));
            Lease held = random.nextBoolean() ? rivalLock().acquire() : null;
            Call<Boolean> waiting = actor("waiter-" + seed).starts(() -> {
                try {
                    brief.lock(NAME).lock();
                } catch (LockUnavailableException | IllegalStateException e) {
                    return;
                }
                try {
                    brief.lock(NAME).unlock();
                } catch (LockLostException | ReleaseNotConfirmedException | IllegalStateException e) {
                    // Closed between the two.
                }
            });
            spin(random.nextInt(20_000));
            if (held != null) {
                held.close();
            }
            brief.close();
            waiting.get();
            rivalLock().tryAcquire(BOUND).orElseThrow(ghost(seed)).close();
        }
    }

    private void race(DistributedLock held, Attempt attempt) throws Exception {
        race(held, LockOptions.defaults(), attempt);
    }

    private void race(DistributedLock held, LockOptions options, Attempt attempt) throws Exception {
        Actor holder = actor("holder");
        DistributedLock waiting = client().lock(NAME, options);
        for (int i = 0; i < fixture().attempts(); i++) {
            int seed = i;
            Random random = random(seed);
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch taken = new CountDownLatch(1);
            int spins = random.nextInt(3_000);
            Call<Boolean> holding = holder.starts(() -> {
                try (Lease lease = held.tryAcquire(BOUND).orElseThrow(ghost(seed))) {
                    taken.countDown();
                    release.await();
                    spin(spins);
                    assertThat(lease.isValid()).as("seed %d", seed).isTrue();
                } finally {
                    taken.countDown();
                }
            });
            taken.await();
            attempt.run(waiting, random, release::countDown);
            release.countDown();
            holding.get();
        }
        assertThat(held.tryAcquire(BOUND)).isPresent().get().satisfies(Lease::close);
    }

    private void interrupted(DistributedLock waiting, Random random, Runnable release) throws Exception {
        Thread waiter = Thread.currentThread();
        CountDownLatch done = new CountDownLatch(1);
        int spins = random.nextInt(6_000);
        Call<Boolean> interrupting = interrupter().starts(() -> {
            release.run();
            spin(spins);
            if (done.getCount() > 0) {
                waiter.interrupt();
            }
        });
        boolean acquired = true;
        try {
            waiting.lockInterruptibly();
        } catch (InterruptedException e) {
            acquired = false;
        }
        done.countDown();
        if (acquired) {
            waiting.unlock();
        }
        awaitUninterrupted(interrupting);
        assertThat(waiting.isHeldByCurrentThread()).isFalse();
    }

    private static void awaitUninterrupted(Call<Boolean> interrupting) throws Exception {
        while (!interrupting.isDone()) {
            Thread.onSpinWait();
        }
        // A late interrupt was meant for this attempt and not for what follows.
        boolean late = Thread.interrupted();
        assertThat(interrupting.get()).as("interrupt came late: %s", late).isTrue();
    }

    private void timedOut(DistributedLock waiting, Random random, Runnable release) throws Exception {
        release.run();
        boolean granted = waiting.tryLock(nextWait(random), TimeUnit.NANOSECONDS);
        if (granted) {
            waiting.unlock();
        }
        assertThat(waiting.isHeldByCurrentThread()).isFalse();
        learnFrom(granted);
    }

    private void timedOutAsync(DistributedLock waiting, Random random, Runnable release) throws Exception {
        CompletableFuture<Optional<Lease>> future = waiting.tryAcquireAsync(Duration.ofNanos(nextWait(random)));
        release.run();
        Optional<Lease> granted = future.get(BOUND.toSeconds(), TimeUnit.SECONDS);
        granted.ifPresent(Lease::close);
        learnFrom(granted.isPresent());
    }

    /** A wait that is about as long as the grant takes, so that either may come first. */
    private long nextWait(Random random) {
        return waitNanos / 2 + random.nextLong(waitNanos);
    }

    private void learnFrom(boolean granted) {
        waitNanos = granted ? waitNanos - waitNanos / 16 : waitNanos + waitNanos / 16;
        waitNanos = Math.max(waitNanos, 1_000);
    }

    private void cancelled(DistributedLock waiting, Random random, Runnable release) throws Exception {
        CompletableFuture<Lease> future = waiting.acquireAsync();
        spin(random);
        release.run();
        spin(random);
        future.cancel(random.nextBoolean());
        closeIfGranted(future);
    }

    private static void closeIfGranted(CompletableFuture<Lease> future) throws InterruptedException {
        try {
            future.get().close();
        } catch (CancellationException e) {
            // The other end of the race.
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private static Lease bounded(CompletableFuture<Lease> future, long seed) throws Exception {
        try {
            return future.get(BOUND.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw ghost(seed).get();
        }
    }

    private Actor interrupter() {
        Actor known = interrupter;
        if (known == null) {
            known = actor("interrupter");
            interrupter = known;
        }
        return known;
    }

    private static Supplier<AssertionError> ghost(long seed) {
        return () -> new AssertionError(
                "seed " + seed + ": the lock was not free, or something was left of the " + "attempt before");
    }

    private static void spin(Random random) {
        spin(random.nextInt(3_000));
    }

    private static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }
}
