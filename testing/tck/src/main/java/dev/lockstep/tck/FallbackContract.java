package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Fallback;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A client with a fallback keeps working when its engine goes down, says so, and returns to it without a gap. */
@Requires(Capability.BREAK_CONNECTION)
abstract class FallbackContract extends ContractGroup {
    private static final Duration AFTER = Duration.ofSeconds(1);

    /** Long enough to connect on a busy machine: a client that cannot begins in fallback. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

    private static final int CYCLES = 2;
    private static final int THREADS = 3;

    /** The engine to fall back to, shared by the clients of one test. */
    private final String otherUrl = "memory:tck-" + UUID.randomUUID();

    private final RecordingListener listener = new RecordingListener();

    FallbackContract(LockContract contract) {
        super(contract);
    }

    private LockClient open(String name, Fallback fallback, LockListener hears) {
        rival(); // an ordinary client first, since the first one of a JVM takes longer to connect
        return open(builder -> builder.clientName(name)
                .requestTimeout(REQUEST_TIMEOUT)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50))
                .fallback(fallback)
                .listener(hears));
    }

    private LockClient openThisJvmOnly() {
        return open("cut-off", Fallback.thisJvmOnly().after(AFTER), listener);
    }

    @Test
    void aCallIsServedByTheFallbackAndSaysSo() throws Exception {
        LockClient cutOff = openThisJvmOnly();
        fixture().breakConnection(cutOff);
        try (Lease lease = cutOff.lock(NAME).acquire()) {
            assertThat(lease.isFallback()).isTrue();
            assertThat(lease.isValid()).isTrue();
            assertThatThrownBy(lease::token)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(NAME);
        }
        Bench.await("the switch is reported", () -> entered(listener) == 1);
        assertThat(listener.only(LockListener.FallbackEntered.class).get(0).silence())
                .isGreaterThanOrEqualTo(AFTER);
        assertThat(left(listener)).isZero();
    }

    @Test
    void aCallThatWaitsIsServedByTheFallback() throws Exception {
        rivalLock().lock();
        LockClient cutOff = openThisJvmOnly();
        Call<Boolean> waiting = actor("waiter").starts(() -> {
            try (Lease lease = cutOff.lock(NAME).acquire()) {
                assertThat(lease.isFallback()).isTrue();
            }
        });
        bench().awaitWaiters(NAME, 1);
        fixture().breakConnection(cutOff);
        waiting.get();
        rivalLock().unlock();
        fixture().healConnection(cutOff);
        // Claims that waited at the engine were withdrawn, and block no other claim.
        bench().awaitFree(NAME);
    }

    @Test
    void threadsExcludeEachOtherInFallback() throws Exception {
        LockClient cutOff = openThisJvmOnly();
        DistributedLock lock = cutOff.lock(NAME);
        fixture().breakConnection(cutOff);
        lock.lock();
        assertThat(actor("another")
                        .starts(() -> assertThat(lock.tryLock()).isFalse())
                        .get())
                .isTrue();
        lock.unlock();
        actor("another").does(() -> {
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
        });
    }

    @Test
    void aHoldFromBeforeIsNotTakenInFallbackWhileItIsValid() throws Exception {
        LockClient cutOff = openThisJvmOnly();
        Lease before = acquireAtTheEngine(cutOff.lock(NAME));
        long token = before.token();
        fixture().breakConnection(cutOff);
        cutOff.lock("another").acquire().close();
        assertThat(before.isValid()).isTrue();
        assertThat(before.isFallback()).isFalse();
        assertThat(before.token()).isEqualTo(token);
        actor("another").does(() -> assertThat(cutOff.lock(NAME).tryAcquire()).isEmpty());
        assertThatThrownBy(before::close).isInstanceOf(ReleaseNotConfirmedException.class);
        try (Lease next = cutOff.lock(NAME).acquire()) {
            assertThat(next.isFallback()).isTrue();
        }
    }

    @Test
    void tokensAreBackWithTheEngineAndHigherThanBefore() throws Exception {
        // With more patience than elsewhere, so that an engine that is back and busy does not count as away.
        LockClient cutOff = open("cut-off", Fallback.thisJvmOnly().after(AFTER.multipliedBy(3)), listener);
        DistributedLock lock = cutOff.lock(NAME);
        long before = token(lock);
        fixture().breakConnection(cutOff);
        Lease inFallback = lock.acquire();
        assertThat(cutOff.inFallback()).isTrue();
        fixture().healConnection(cutOff);
        Bench.await("other locks are the engine's again", () -> !isFallback(cutOff.lock("another")));
        assertThat(inFallback.isValid()).isTrue();
        assertThat(left(listener)).isZero();
        inFallback.close();
        Bench.await("the fallback is left", () -> left(listener) == 1);
        assertThat(cutOff.inFallback()).isFalse();
        assertThat(token(lock)).isGreaterThan(before);
        assertThat(entered(listener)).isEqualTo(1);
    }

    @Test
    void aShortOutageIsTolerated() throws Exception {
        LockClient cutOff = open("cut-off", Fallback.thisJvmOnly().after(Duration.ofMinutes(1)), listener);
        fixture().breakConnection(cutOff);
        Call<Boolean> waiting = actor("waiter").starts(() -> {
            try (Lease lease = cutOff.lock(NAME).acquire()) {
                assertThat(lease.isFallback()).isFalse();
                assertThat(lease.token()).isPositive();
            }
        });
        // Without a fallback, the call would have failed by now.
        Bench.letPass(REQUEST_TIMEOUT.plusSeconds(1));
        assertThat(waiting.isDone()).isFalse();
        fixture().healConnection(cutOff);
        waiting.get();
        assertThat(entered(listener)).isZero();
    }

    @Test
    void aClientClosesInFallback() throws Exception {
        // A short ttl, since the engine learns of the end of a client that it cannot hear only by that.
        LockClient cutOff = open(builder -> builder.clientName("cut-off")
                .ttl(shortTtl())
                .requestTimeout(shortRequestTimeout())
                .fallback(Fallback.thisJvmOnly().after(AFTER)));
        fixture().breakConnection(cutOff);
        Lease lease = cutOff.lock(NAME).acquireAsync().get();
        assertThat(Bench.timed(cutOff::close))
                .isLessThan(shortRequestTimeout().multipliedBy(3).plus(Bench.AT_ONCE));
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    /** The engine goes away and comes back, for two clients that fall back to the same engine, while threads take turns. */
    @Test
    void underLoadTheEngineGoesAwayAndComesBack() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        List<Side> sides = List.of(new Side("one"), new Side("two"));
        Shared shared = new Shared();
        List<Call<Boolean>> loads = new ArrayList<>();
        for (Side side : sides) {
            for (Actor worker : bench().actors(side.client.name(), THREADS)) {
                loads.add(worker.starts(() -> work(side, shared, stop)));
            }
        }
        try {
            for (int cycle = 0; cycle < CYCLES; cycle++) {
                awaitProgress(shared.inEngine);
                sides.forEach(side -> fixture().breakConnection(side.client));
                awaitSwitch("every client is in fallback", sides, true);
                awaitProgress(shared.inFallback);
                sides.forEach(side -> fixture().healConnection(side.client));
                awaitSwitch("every client has left the fallback", sides, false);
            }
            awaitProgress(shared.inEngine);
        } finally {
            stop.set(true);
        }
        for (Call<Boolean> load : loads) {
            load.get();
        }
        assertThat(shared.overlaps).hasValue(0);
        assertThat(sides).allSatisfy(side -> assertThat(side.disorder).hasValue(0));
        try (LockClient observer = LockClient.builder()
                .namespace(bench().namespace())
                .url(otherUrl)
                .connect()) {
            assertThat(observer.list("")).isEmpty();
        }
    }

    /** One client of the load test. It notes its switches, and keeps no list of the many other events. */
    private final class Side implements LockListener {
        final LockClient client;
        final AtomicInteger inside = new AtomicInteger();
        final AtomicBoolean inFallback = new AtomicBoolean();
        final AtomicInteger disorder = new AtomicInteger();

        Side(String name) {
            client = open(name, Fallback.to(otherUrl).after(AFTER), this);
        }

        @Override
        public void onFallbackEntered(FallbackEntered event) {
            disorder.addAndGet(inFallback.getAndSet(true) ? 1 : 0);
        }

        @Override
        public void onFallbackLeft(FallbackLeft event) {
            disorder.addAndGet(inFallback.getAndSet(false) ? 0 : 1);
        }
    }

    /** The data that the clients of the load test guard by the lock: one place for each engine, and the tokens. */
    private static final class Shared {
        final AtomicLong inEngine = new AtomicLong();
        final AtomicLong inFallback = new AtomicLong();
        final AtomicInteger insideEngine = new AtomicInteger();
        final AtomicInteger insideFallback = new AtomicInteger();
        final AtomicInteger overlaps = new AtomicInteger();
        long highestToken; // guarded by the lock, as far as the engine gave it
    }

    private void work(Side side, Shared shared, AtomicBoolean stop) throws InterruptedException {
        DistributedLock lock = side.client.lock(NAME);
        while (!stop.get()) {
            try (Lease lease = lock.tryAcquire(Duration.ofSeconds(15)).orElseThrow()) {
                AtomicInteger inside = lease.isFallback() ? shared.insideFallback : shared.insideEngine;
                boolean alone = inside.getAndIncrement() == 0 & side.inside.getAndIncrement() == 0;
                if (!lease.isFallback()) {
                    long token = lease.token();
                    alone &= token > shared.highestToken;
                    shared.highestToken = token;
                }
                Thread.onSpinWait();
                inside.decrementAndGet();
                side.inside.decrementAndGet();
                if (!alone) {
                    shared.overlaps.incrementAndGet();
                }
                (lease.isFallback() ? shared.inFallback : shared.inEngine).incrementAndGet();
            } catch (LockUnavailableException | ReleaseNotConfirmedException e) {
                // The engine went away while it was being taken or released.
            }
        }
    }

    /** Where the clients are counts, and not how often they switched: a busy machine may make an engine seem gone. */
    private static void awaitSwitch(String what, List<Side> sides, boolean inFallback) {
        Bench.await(what, () -> sides.stream().allMatch(side -> side.inFallback.get() == inFallback));
    }

    private static void awaitProgress(AtomicLong count) {
        long start = count.get();
        Bench.await("locks are taken", () -> count.get() >= start + 20);
    }

    /** An engine that is busy for longer than the fallback waits is away for that long. */
    private static Lease acquireAtTheEngine(DistributedLock lock) throws InterruptedException {
        Lease lease = lock.acquire();
        while (lease.isFallback()) {
            lease.close();
            lease = lock.acquire();
        }
        return lease;
    }

    private static boolean isFallback(DistributedLock lock) throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            return lease.isFallback();
        }
    }

    private static long token(DistributedLock lock) throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            return lease.token();
        }
    }

    private static int entered(RecordingListener hears) {
        return hears.only(LockListener.FallbackEntered.class).size();
    }

    private static int left(RecordingListener hears) {
        return hears.only(LockListener.FallbackLeft.class).size();
    }
}
