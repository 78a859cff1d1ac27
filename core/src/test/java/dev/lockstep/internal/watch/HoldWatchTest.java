package dev.lockstep.internal.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LeaderElection;
import dev.lockstep.Lease;
import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.Permit;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.client.Clients;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.spi.VirtualScheduler;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds that nobody releases are noticed, and so are losses. */
class HoldWatchTest {
    private static final Duration TTL = ScriptedBackend.VALIDITY;

    private final VirtualScheduler time = new VirtualScheduler();
    private final ScriptedBackend engine = new ScriptedBackend(time);
    private final List<String> warnings = new ArrayList<>();
    private final List<LockListener.Abandoned> abandoned = new ArrayList<>();

    @BeforeEach
    void listen() {
        engine.answersAtOnce = true;
        ThreadLogs.onWarning(warnings::add);
    }

    @AfterEach
    void listenNoMore() {
        ThreadLogs.onWarning(null);
    }

    private Client open(boolean releaseAbandoned, @Nullable Duration longHold) {
        LockListener listener = new LockListener() {
            @Override
            public void onAbandoned(Abandoned event) {
                abandoned.add(event);
            }
        };
        Clients.Settings settings = new Clients.Settings(
                "test",
                TTL,
                Duration.ofSeconds(5),
                Duration.ofMillis(20),
                Duration.ofSeconds(1),
                "client",
                null,
                List.of(listener),
                List.of(),
                false,
                new Clients.Care(
                        false, false, releaseAbandoned, longHold, Duration.ofSeconds(1), DeadlockPolicy.REPORT));
        Client client = new Client(context -> engine, settings, null, time, Runnable::run, "client", "id", () -> {});
        return client;
    }

    /** Lets the ttl pass, with renewals. */
    private void pass() {
        for (int third = 0; third < 3; third++) {
            engine.grants.forEach(grant -> grant.renewedUntil(time.nanoTime() + TTL.toNanos()));
            time.advance(TTL.dividedBy(3));
        }
    }

    // ---------------------------------------------------------------- threads

    private static void inThread(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work, "worker-7");
        thread.start();
        thread.join();
    }

    @ParameterizedTest
    @EnumSource
    void aThreadThatEndsWhileItHoldsIsReportedOnce(LockMode mode) throws Exception {
        Client client = open(false, null);
        DistributedLock lock = mode == LockMode.EXCLUSIVE
                ? client.readWriteLock("a").writeLock()
                : client.readWriteLock("a").readLock();
        inThread(lock::lock);
        pass();
        pass();
        pass();
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("Lock 'a'", "thread 'worker-7' ended", " ms after", "stays held", "releaseAbandoned()");
        assertThat(abandoned).singleElement().satisfies(event -> {
            assertThat(event.lockName()).isEqualTo("a");
            assertThat(event.mode()).isEqualTo(mode);
            assertThat(event.thread()).isEqualTo("worker-7");
            assertThat(event.held()).isBetween(Duration.ofMillis(1), TTL.multipliedBy(2));
            assertThat(event.released()).isFalse();
        });
        assertThat(engine.grant(0).releases).isZero();
    }

    @Test
    void holdsOfAnEndedThreadAreReleasedIfAskedFor() throws Exception {
        Client client = open(true, null);
        DistributedLock lock = client.lock("a");
        inThread(() -> {
            lock.lock();
            lock.lock();
        });
        pass();
        pass();
        assertThat(warnings).singleElement().asString().contains("thread 'worker-7' ended", "released now");
        assertThat(abandoned)
                .singleElement()
                .satisfies(event -> assertThat(event.released()).isTrue());
        assertThat(engine.grant(0).releases).isEqualTo(1);
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
    }

    @Test
    void aVirtualThreadIsAThread() throws Exception {
        Optional<Method> start = Stream.of(Thread.class.getMethods())
                .filter(method -> method.getName().equals("startVirtualThread"))
                .findAny();
        assumeTrue(start.isPresent(), "this JDK has no virtual threads");
        DistributedLock lock = open(true, null).lock("a");
        Runnable work = lock::lock;
        ((Thread) start.get().invoke(null, work)).join();
        pass();
        pass();
        assertThat(abandoned).hasSize(1);
        assertThat(engine.grant(0).releases).isEqualTo(1);
    }

    @Test
    void aThreadThatLivesOrHasReleasedIsLeftAlone() throws Exception {
        DistributedLock lock = open(true, null).lock("a");
        inThread(() -> {
            lock.lock();
            lock.unlock();
        });
        lock.lock();
        pass();
        pass();
        lock.unlock();
        assertThat(warnings).isEmpty();
        assertThat(abandoned).isEmpty();
    }

    // ---------------------------------------------------------------- leases

    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair", "tried", "several"})
    void aLeaseThatWasDroppedIsReleased(String kind) {
        Client client = open(false, null);
        switch (kind) {
            case "fair" -> client.lock("a", LockOptions.defaults().fair()).acquireAsync();
            case "tried" -> client.lock("a").tryAcquireAsync(Duration.ZERO);
            case "several" -> client.multiLock("a").acquireAsync();
            default -> client.lock("a").acquireAsync();
        }
        for (int i = 0; i < 50 && abandoned.isEmpty(); i++) {
            System.gc();
            pass();
        }
        assertThat(abandoned).singleElement().satisfies(event -> {
            assertThat(event.thread()).isEmpty();
            assertThat(event.released()).isTrue();
        });
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("Lock 'a'", "its lease was dropped", "released now", "leakDetection");
        assertThat(engine.grant(0).releases).isEqualTo(1);
    }

    @Test
    void aLeaseThatIsUsedOrClosedIsLeftAlone() {
        Client client = open(false, null);
        CompletableFuture<Lease> used = client.lock("a").acquireAsync();
        client.lock("b").acquireAsync().join().close();
        for (int i = 0; i < 5; i++) {
            System.gc();
            pass();
        }
        assertThat(abandoned).isEmpty();
        used.join().close();
        assertThat(warnings).isEmpty();
    }

    @Test
    void theWarningOfADroppedLeaseShowsWhereItWasAcquiredIfTheClientLooksForLeaks() {
        Client client = open(false, Duration.ofHours(1));
        client.lock("a").acquireAsync();
        dropped();
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains(
                        "event=abandoned",
                        "acquired here",
                        "HoldWatchTest.theWarningOfADroppedLeaseShowsWhereItWasAcquiredIfTheClientLooksForLeaks")
                .doesNotContain("use leakDetection");
    }

    /** Lets the garbage collector work until a dropped handle is noticed. */
    private void dropped() {
        for (int i = 0; i < 50 && abandoned.isEmpty(); i++) {
            System.gc();
            pass();
        }
        assertThat(abandoned).hasSize(1);
    }

    // ---------------------------------------------------------------- permits

    @ParameterizedTest
    @ValueSource(strings = {"acquired", "tried", "several", "asynchronous"})
    void aPermitWhoseHandleWasDroppedIsReleased(String kind) throws Exception {
        DistributedSemaphore semaphore = open(false, null).semaphore("a", 3);
        switch (kind) {
            case "tried" -> semaphore.tryAcquire();
            case "several" -> semaphore.acquire(2);
            case "asynchronous" -> semaphore.acquireAsync();
            default -> semaphore.acquire();
        }
        dropped();
        assertThat(abandoned).singleElement().satisfies(event -> {
            assertThat(event.lockName()).isEqualTo("a");
            assertThat(event.mode()).isEqualTo(LockMode.SHARED);
            assertThat(event.thread()).isEmpty();
            assertThat(event.released()).isTrue();
        });
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("event=abandoned", "Semaphore 'a'", "a permit was dropped", "released now", "leakDetection");
        assertThat(engine.grant(0).releases).isEqualTo(1);
    }

    @Test
    void aPermitThatIsUsedOrClosedIsLeftAlone() throws Exception {
        DistributedSemaphore semaphore = open(false, null).semaphore("a", 3);
        Permit used = semaphore.acquire();
        semaphore.acquire().close();
        for (int i = 0; i < 5; i++) {
            System.gc();
            pass();
        }
        assertThat(abandoned).isEmpty();
        used.close();
        assertThat(warnings).isEmpty();
    }

    @Test
    void aPermitIsWatchedByTheDetectionOfLeaks() throws Exception {
        DistributedSemaphore semaphore = open(false, Duration.ofSeconds(8)).semaphore("a", 3);
        Permit permit = semaphore.acquire();
        time.advance(Duration.ofSeconds(7));
        assertThat(warnings).isEmpty();
        time.advance(Duration.ofSeconds(5));
        time.advance(Duration.ofSeconds(5));
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("Semaphore 'a'", "leakDetection", "HoldWatchTest.aPermitIsWatchedByTheDetectionOfLeaks");
        permit.close();
    }

    @Test
    void aHoldThatLastsLongIsReportedWithThePlaceWhereItBegan() throws Exception {
        Client client = open(false, Duration.ofSeconds(8));
        client.lock("a").lock();
        Lease lease = client.lock("b").acquireAsync().get();
        time.advance(Duration.ofSeconds(7));
        assertThat(warnings).isEmpty();
        time.advance(Duration.ofSeconds(5));
        assertThat(warnings)
                .hasSize(2)
                .allSatisfy(warning -> assertThat(warning)
                        .contains(
                                "leakDetection", "HoldWatchTest.aHoldThatLastsLongIsReportedWithThePlaceWhereItBegan"));
        time.advance(Duration.ofSeconds(10));
        assertThat(warnings).hasSize(2);
        assertThat(abandoned).isEmpty();
        lease.close();
        client.lock("a").unlock();
    }

    // ---------------------------------------------------------------- losses

    @Test
    void aLossIsLoggedWithTokenReasonAndTime() throws Exception {
        Client client = open(false, null);
        Lease lease = client.lock("a").acquire();
        long token = lease.token();
        client.lock("b").lock();
        time.advance(TTL);
        assertThat(warnings)
                .satisfiesExactlyInAnyOrder(
                        warning -> assertThat(warning)
                                .contains("Lock 'a' was lost", "EXPIRED", "token " + token, "30000 ms"),
                        warning -> assertThat(warning).contains("Lock 'b' was lost", "nobody had asked for its token"));
    }

    @Test
    void theLossOfAPermitIsLoggedOnceWithItsFacts() throws Exception {
        Permit permit = open(false, null).semaphore("a", 2).acquire();
        time.advance(TTL);
        assertThat(permit.isValid()).isFalse();
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains(
                        "event=lost",
                        "client=client",
                        "lock=a",
                        "reason=EXPIRED",
                        "durationMs=30000",
                        "A permit of semaphore 'a' was lost",
                        "longer ttl");
    }

    @Test
    void theLossOfATermIsLoggedOnce() {
        LeaderElection election = open(false, null).election("a", term -> new CountDownLatch(1).await());
        engine.grant(0).signalLost(LossReason.REVOKED);
        assertThat(warnings).singleElement().asString().contains("event=lost", "lock=a", "reason=REVOKED");
        election.close();
    }

    @Test
    void aClientThatIsClosedWarnsOfNothing() {
        Client client = open(false, null);
        List<LossReason> told = new ArrayList<>();
        client.lock("a").acquireAsync().join().onLost(told::add);
        client.semaphore("b", 2).acquireAsync().join().onLost(told::add);
        client.close();
        assertThat(told).containsExactly(LossReason.CLIENT_CLOSED, LossReason.CLIENT_CLOSED);
        assertThat(warnings).isEmpty();
    }
}
