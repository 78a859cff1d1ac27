package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.LeaderElection;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Users' code may take its time, and may take locks: whatever the client's executor, it runs under no mutex of the client, its
 * backend or its driver. Here the executor runs it in the thread that asks for it.
 */
abstract class UsersCodeContract extends ContractGroup {
    /** A hold lives until the next step, however slowly the engine writes; and a renewal notices soon that it is lost. */
    private static final Duration TTL = Duration.ofSeconds(10);

    private final UsersCode code = new UsersCode();

    UsersCodeContract(LockContract contract) {
        super(contract);
    }

    private LockClient direct(UnaryOperator<LockClient.Builder> settings) {
        return open(builder -> settings.apply(builder.clientName("direct")
                .executor(Runnable::run)
                .listener(code.listener())
                .observer(code.observer())));
    }

    private LockClient direct() {
        return direct(settings -> settings);
    }

    private void awaitCall(String what) {
        Bench.await("it is called: " + what, () -> code.calls(what) > 0);
    }

    private <T> CompletableFuture<T> followed(CompletableFuture<T> call, String what) {
        return call.whenComplete((result, failure) -> code.called(what));
    }

    private static <T> T get(CompletableFuture<T> call) throws Exception {
        return call.get(Bench.PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void assertNoMutex() {
        assertThat(code.mutexes()).isEmpty();
    }

    @Test
    void holdsNoMutexWhenALockIsTakenAndReleased() throws Exception {
        LockClient direct = direct();
        direct.lock(NAME).lock();
        direct.lock(NAME).unlock();
        Lease lease = get(followed(direct.lock(NAME).acquireAsync(), "acquired"));
        get(followed(lease.closeAsync(), "released"));
        awaitCall("onAcquired");
        awaitCall("onReleased");
        awaitCall("callStarted");
        awaitCall("callEnded");
        awaitCall("holdEnded");
        assertNoMutex();
    }

    @Test
    void holdsNoMutexWhenAWaitIsOver() throws Exception {
        LockClient direct = direct();
        rivalLock().lock();
        CompletableFuture<Lease> waiting = followed(direct.lock(NAME).acquireAsync(), "acquired");
        bench().awaitWaiters(NAME, 1);
        CompletableFuture<Lease> cancelled = direct.lock(NAME).acquireAsync();
        followed(cancelled, "cancelled");
        cancelled.cancel(false);
        Bench.inVain(Duration.ofMillis(500), wait -> {
            CompletableFuture<Optional<Lease>> bounded =
                    followed(direct.lock(NAME, LockOptions.defaults()).tryAcquireAsync(wait), "timed out");
            assertThat(get(bounded)).isEmpty();
        });
        rivalLock().unlock();
        get(followed(get(waiting).closeAsync(), "released"));
        assertNoMutex();
    }

    @Test
    void holdsNoMutexWhenAThreadWaits() throws Exception {
        LockClient direct = direct();
        rivalLock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> {
            direct.lock(NAME).lock();
            direct.lock(NAME).unlock();
        });
        waiter.awaitParked();
        bench().awaitWaiters(NAME, 1);
        rivalLock().unlock();
        waiting.get();
        awaitCall("onReleased");
        awaitCall("waiting");
        assertNoMutex();
    }

    @Test
    void holdsNoMutexWhenAGrantIsHandedOn() throws Exception {
        LockClient direct = direct();
        direct.lock(NAME).lock();
        CompletableFuture<Lease> next = followed(direct.lock(NAME).acquireAsync(), "acquired");
        direct.lock(NAME).unlock();
        get(followed(get(next).closeAsync(), "released"));
        assertNoMutex();
    }

    @Test
    @Requires(Capability.SHARED)
    void holdsNoMutexWhenReadersHaveTheLock() throws Exception {
        LockClient direct = direct();
        rivalLock().lock();
        DistributedLock read = direct.readWriteLock(NAME).readLock();
        CompletableFuture<Lease> one = followed(read.acquireAsync(), "acquired");
        CompletableFuture<Lease> other = followed(read.acquireAsync(), "acquired");
        bench().awaitWaiters(NAME, 1);
        rivalLock().unlock();
        get(followed(get(one).closeAsync(), "released"));
        get(followed(get(other).closeAsync(), "released"));
        assertNoMutex();
    }

    @Test
    void holdsNoMutexWhenSeveralLocksAreTaken() throws Exception {
        LockClient direct = direct();
        rival().lock("b").lock();
        CompletableFuture<Lease> all = followed(direct.multiLock("a", "b", "c").acquireAsync(), "acquired");
        bench().awaitWaiters("b", 1);
        rival().lock("b").unlock();
        get(followed(get(all).closeAsync(), "released"));
        assertNoMutex();
    }

    @Test
    void holdsNoMutexWhenALockIsLost() throws Exception {
        LockClient rival = rival();
        // Long enough that the hold does not expire on a busy machine: then nothing would be left to release.
        LockClient direct = direct(builder -> builder.ttl(TTL));
        Lease lease = get(direct.lock(NAME).acquireAsync());
        lease.onLost(reason -> code.called("loss action"));
        assertThat(rival.forceRelease(NAME)).isTrue();
        awaitCall("loss action");
        awaitCall("onLost");
        awaitCall("holdEnded");
        assertNoMutex();
    }

    @Test
    void holdsNoMutexWhenAMaximumTimeIsOver() throws Exception {
        Lease lease = get(direct().lock(NAME, LockOptions.defaults().maxHold(Duration.ofMillis(100)))
                .acquireAsync());
        lease.onLost(reason -> code.called("loss action"));
        awaitCall("loss action");
        awaitCall("onLost");
        bench().awaitFree(NAME);
        assertNoMutex();
    }

    @Test
    @Requires(Capability.EXPIRE_SESSION)
    void holdsNoMutexWhenASessionEnds() throws Exception {
        LockClient direct = direct(builder -> builder.ttl(TTL));
        rival().lock("another").lock();
        Lease lease = get(direct.lock(NAME).acquireAsync());
        lease.onLost(reason -> code.called("loss action"));
        CompletableFuture<Lease> waiting = followed(direct.lock("another").acquireAsync(), "acquired");
        bench().awaitWaiters("another", 1);
        fixture().expireSession(direct);
        awaitCall("loss action");
        awaitCall("onLost");
        rival().lock("another").unlock();
        get(followed(get(waiting).closeAsync(), "released"));
        assertNoMutex();
    }

    @Test
    @Requires(Capability.BREAK_CONNECTION)
    void holdsNoMutexWhenTheEngineIsAway() throws Exception {
        LockClient direct = bench().openRetrying(
                        "its request timeout, which is for the requests of the test, also limits connecting",
                        builder -> builder.clientName("direct")
                                .ttl(shortTtl())
                                .requestTimeout(shortRequestTimeout())
                                .executor(Runnable::run)
                                .listener(code.listener())
                                .observer(code.observer()));
        Lease lease = direct.lock(NAME).tryAcquire(Bench.PATIENCE).orElseThrow();
        lease.onLost(reason -> code.called("loss action"));
        fixture().breakConnection(direct);
        CompletableFuture<Lease> vain = followed(direct.lock("another").acquireAsync(), "failed");
        awaitCall("failed");
        assertThat(vain).failsWithin(Bench.PATIENCE);
        awaitCall("onUnreachable");
        awaitCall("loss action");
        awaitCall("onLost");
        fixture().healConnection(direct);
        Lease again = direct.lock("third").tryAcquire(Bench.PATIENCE).orElseThrow();
        awaitCall("onReachable");
        again.closeAsync();
        assertNoMutex();
    }

    @Test
    void holdsNoMutexWhenTheClientIsClosed() throws Exception {
        LockClient direct = direct();
        rivalLock().lock();
        CompletableFuture<Lease> waiting = followed(direct.lock(NAME).acquireAsync(), "failed");
        Lease lease = get(direct.lock("another").acquireAsync());
        lease.onLost(reason -> code.called("loss action"));
        direct.close();
        assertThat(waiting).failsWithin(Bench.PATIENCE);
        awaitCall("loss action");
        awaitCall("onLost");
        awaitCall("clientClosed");
        rivalLock().unlock();
        assertNoMutex();
    }

    @Test
    @Requires(Capability.LIMITS)
    void holdsNoMutexWhenAPermitIsAcquiredReleasedAndLost() throws Exception {
        LockClient direct = direct(builder -> builder.ttl(TTL));
        Permit first = rival().semaphore(NAME, 1).acquire();
        CompletableFuture<Permit> waiting = followed(direct.semaphore(NAME, 1).acquireAsync(), "acquired");
        bench().awaitWaiters(NAME, 1);
        first.close();
        get(followed(get(waiting).closeAsync(), "released"));
        Permit lost = direct.semaphore(NAME, 1).acquire();
        lost.onLost(reason -> code.called("loss action"));
        assertThat(rival().forceRelease(NAME)).isTrue();
        awaitCall("loss action");
        awaitCall("onLost");
        assertNoMutex();
    }

    @Test
    void holdsNoMutexInAnElection() throws Exception {
        LockClient direct = direct();
        CountDownLatch leads = new CountDownLatch(1);
        LeaderElection election = direct.election(NAME, "payload", term -> {
            term.onLost(reason -> code.called("loss action"));
            leads.countDown();
            new CountDownLatch(1).await();
        });
        election.onChange(leader -> code.called("change"));
        assertThat(leads.await(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        awaitCall("change");
        int before = code.calls("change");
        election.onChange(leader -> code.called("change"));
        Bench.await("the second listener is called", () -> code.calls("change") > before);
        election.close();
        awaitCall("onReleased");
        assertNoMutex();
    }
}
