package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A sticky lock stays with its client until another client wants it, and is then released. */
abstract class StickyContract extends ContractGroup {
    private static final LockOptions STICKY = LockOptions.defaults().sticky(Duration.ofMinutes(5));

    StickyContract(LockContract contract) {
        super(contract);
    }

    /** Locks that a client keeps stay at the engine on purpose, until the client is closed. */
    @AfterEach
    void closeClients() {
        if (isRunning()) {
            bench().closeClients();
        }
    }

    private DistributedLock sticky() {
        return client().lock(NAME, STICKY);
    }

    private void keep() {
        sticky().lock();
        sticky().unlock();
    }

    @Test
    void anEngineThatCannotSeeWaitersRefusesIt() {
        assumeFalse(fixture().capabilities().contains(Capability.TELLS_WANTED), "the engine can tell who wants a lock");
        assertThatThrownBy(() -> client().lock(NAME, STICKY).lock()).isInstanceOf(LockConfigurationException.class);
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void aKeptLockIsHeldForOthersAndFreeForItsClient() throws Exception {
        keep();
        assertThat(sticky().isHeldByCurrentThread()).isFalse();
        assertThat(bench().isFree(NAME)).isFalse();
        assertThat(sticky().tryLock()).isTrue();
        sticky().unlock();
        Actor another = actor("another");
        another.does(this::keep);
        assertThatThrownBy(sticky()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        client().close();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Alone
    @Test
    @Requires({Capability.TELLS_WANTED, Capability.COUNT_REQUESTS})
    void aKeptLockIsTakenWithoutTheEngine() {
        keep();
        long before = fixture().requestCount();
        for (int i = 0; i < 1_000; i++) {
            keep();
        }
        assertThat(fixture().requestCount() - before).isLessThan(100);
        client().close();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void aKeptLockGoesToAClientThatWaits() throws Exception {
        keep();
        long last;
        try (Lease lease = sticky().acquire()) {
            last = lease.token();
        }
        for (int i = 0; i < 10; i++) {
            // Each side calls it back from the other in turn.
            LockClient client = i % 2 == 0 ? rival() : client();
            try (Lease lease =
                    client.lock(NAME, STICKY).tryAcquire(Bench.PATIENCE).orElseThrow()) {
                assertThat(lease.token()).isGreaterThan(last);
                last = lease.token();
            }
        }
        client().close();
        rival().close();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void aLockThatIsWantedIsNotKept() throws Exception {
        sticky().lock();
        CompletableFuture<Lease> waiting = rivalLock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        sticky().unlock();
        waiting.get(20, TimeUnit.SECONDS).close();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void aKeptLockIsReleasedWhenItIsIdle() {
        DistributedLock brief = client().lock(NAME, LockOptions.defaults().sticky(Duration.ofMillis(300)));
        long start = System.nanoTime();
        brief.lock();
        brief.unlock();
        bench().awaitFree(NAME);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void aKeptLockIsRenewed() throws Exception {
        LockClient keeper = openRenewing("keeper");
        DistributedLock lock = keeper.lock(NAME, STICKY);
        long token;
        try (Lease lease = lock.acquire()) {
            token = lease.token();
        }
        Bench.letPass(longerThanRenewedTtl());
        assertThat(bench().isFree(NAME)).isFalse();
        try (Lease lease = lock.acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.token()).isGreaterThan(token);
        }
        keeper.close();
    }

    @Test
    @Requires({Capability.TELLS_WANTED, Capability.BREAK_CONNECTION})
    void aKeptLockThatWasLostIsClaimedAgain() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        DistributedLock lock = cutOff.lock(NAME, STICKY);
        lock.lock();
        lock.unlock();
        fixture().breakConnection(cutOff);
        long token;
        try (Lease next = rivalLock().acquire()) {
            token = next.token();
            fixture().healConnection(cutOff);
        }
        try (Lease lease = lock.tryAcquire(Bench.PATIENCE).orElseThrow()) {
            assertThat(lease.token()).isGreaterThan(token);
        }
        cutOff.close();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void noUpdateIsLostUnderAStickyLock() throws Exception {
        int[] guarded = new int[1];
        int rounds = fixture().attempts() / 8;
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DistributedLock lock = (i % 2 == 0 ? client() : rival()).lock(NAME, STICKY);
            calls.add(actor("worker-" + i).starts(() -> {
                for (int round = 0; round < rounds; round++) {
                    lock.lock();
                    guarded[0]++;
                    lock.unlock();
                }
            }));
        }
        for (Call<?> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
        client().close();
        rival().close();
        assertThat(guarded[0]).isEqualTo(8 * rounds);
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void usersOfANameMustAgreeOnWhetherItIsKept() throws Exception {
        sticky().lock();
        assertThatThrownBy(() -> actor("another").does(() -> lock().lock()))
                .isInstanceOf(LockConfigurationException.class);
        sticky().unlock();
        client().close();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void itsTokensRise() throws Exception {
        long last = 0;
        for (int i = 0; i < 1_100; i++) {
            try (Lease lease = sticky().acquire()) {
                assertThat(lease.token()).isGreaterThan(last);
                last = lease.token();
            }
        }
        Lease next = rivalLock().acquire();
        assertThat(next.token()).isGreaterThan(last);
        next.close();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void itIsReleasedWhenItsClientIsClosed() {
        LockClient brief = open(builder -> builder.clientName("brief"));
        brief.lock(NAME, STICKY).lock();
        brief.lock(NAME, STICKY).unlock();
        brief.close();
        assertThat(rivalLock().tryLock()).isTrue();
        rivalLock().unlock();
    }

    @Test
    @Requires({Capability.TELLS_WANTED, Capability.SHARED})
    void aReaderThatIsKeptDoesNotBlockItsOwnClientsWriter() {
        DistributedReadWriteLock lock = client().readWriteLock(NAME, STICKY);
        lock.readLock().lock();
        lock.readLock().unlock();
        lock.writeLock().lock();
        lock.writeLock().unlock();
        lock.readLock().lock();
        lock.readLock().unlock();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void severalStickyLocksAtOnceDoNotDeadlock() throws Exception {
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            List<String> names = i == 0 ? List.of("a", "b", "c") : List.of("c", "b", "a");
            DistributedLock lock = bench().client("client-" + i).multiLock(names, STICKY);
            calls.add(actor("worker-" + i).starts(() -> {
                for (int round = 0; round < 50; round++) {
                    lock.lock();
                    lock.unlock();
                }
            }));
        }
        for (Call<?> call : calls) {
            call.get();
        }
    }
}
