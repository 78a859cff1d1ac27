package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A sticky lock stays with its client between uses, until another client wants it. */
abstract class StickyContract extends ContractGroup {
    private static final LockOptions STICKY = LockOptions.defaults().sticky(Duration.ofMinutes(5));

    StickyContract(LockContract contract) {
        super(contract);
    }

    /** What a client keeps is left at the engine on purpose, until the client is closed. */
    @AfterEach
    void closeClients() {
        bench().closeClients();
    }

    private DistributedLock sticky() {
        return client().lock(NAME, STICKY);
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void itStaysWithItsClientWhichIsShownAsAStickyHolder() {
        sticky().lock();
        sticky().unlock();
        assertThat(rivalLock().tryLock()).isFalse();
        assertThat(rival().inspect(NAME).holders())
                .singleElement()
                .satisfies(entry -> assertThat(entry.holder().sticky()).isTrue())
                .satisfies(entry -> assertThat(entry.holder().client()).isEqualTo("client"));
        assertThat(sticky().isHeldByCurrentThread()).isFalse();
    }

    @Test
    @Requires({Capability.TELLS_WANTED, Capability.COUNT_REQUESTS})
    void takingItAgainAsksNothingOfTheEngine() {
        sticky().lock();
        sticky().unlock();
        long before = fixture().requestCount();
        for (int i = 0; i < 100; i++) {
            sticky().lock();
            sticky().unlock();
        }
        // A renewal may fall into the time.
        assertThat(fixture().requestCount() - before).isLessThan(10);
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
    void whoWaitsForItCallsItBack() throws Exception {
        sticky().lock();
        sticky().unlock();
        Actor waiter = actor("waiter");
        waiter.does(() -> rivalLock().lock());
        assertThat(sticky().tryLock()).isFalse();
        waiter.does(() -> rivalLock().unlock());
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void itIsNotKeptOnceWanted() throws Exception {
        sticky().lock();
        Call<Boolean> waiting = actor("waiter").starts(() -> {
            rivalLock().lock();
            rivalLock().unlock();
        });
        if (fixture().capabilities().contains(Capability.SHOWS_WAITERS)) {
            bench().awaitWaiters(NAME, 1);
        }
        sticky().unlock();
        waiting.get();
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void itGoesBackWhenNobodyHasUsedItForItsIdleTime() throws Exception {
        DistributedLock brief = client().lock(NAME, LockOptions.defaults().sticky(Duration.ofMillis(200)));
        brief.lock();
        brief.unlock();
        Bench.await("the lock is free after the idle time", () -> {
            boolean taken = rivalLock().tryLock();
            if (taken) {
                rivalLock().unlock();
            }
            return taken;
        });
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void itGoesBackWhenItsClientIsClosed() {
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
    @Requires({Capability.TELLS_WANTED, Capability.BREAK_CONNECTION})
    void itIsNotTakenOverAfterItsSessionEnded() throws Exception {
        LockClient cut = openShortLived("cut");
        DistributedLock lock = cut.lock(NAME, STICKY);
        lock.lock();
        lock.unlock();
        fixture().breakConnection(cut);
        Actor other = actor("other");
        other.does(() -> rivalLock().lock());
        fixture().healConnection(cut);
        Bench.await("the client reaches the engine again", () -> !cut.inspect(NAME).isFree());
        assertThat(lock.tryLock()).isFalse();
        other.does(() -> rivalLock().unlock());
    }

    @Test
    @Requires(Capability.TELLS_WANTED)
    void clientsThatWantItInTurnAllGetIt() throws Exception {
        List<Call<?>> calls = new ArrayList<>();
        int[] counter = {0};
        for (int i = 0; i < 3; i++) {
            DistributedLock lock = bench().client("client-" + i).lock(NAME, STICKY);
            for (int thread = 0; thread < 2; thread++) {
                calls.add(actor("worker-" + i + "-" + thread).starts(() -> {
                    for (int round = 0; round < 50; round++) {
                        lock.lock();
                        counter[0]++;
                        lock.unlock();
                    }
                }));
            }
        }
        for (Call<?> call : calls) {
            call.get();
        }
        DistributedLock last = bench().client("client-0").lock(NAME, STICKY);
        last.lock();
        assertThat(counter[0]).isEqualTo(300);
        last.unlock();
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

    @Test
    void itCannotBeFair() {
        assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(STICKY::fair);
        assertThatExceptionOfType(LockConfigurationException.class)
                .isThrownBy(() -> LockOptions.defaults().fair().sticky(Duration.ofSeconds(1)));
    }

    @Test
    void itIsRefusedByAnEngineThatCannotTellThatItIsWanted() {
        Assumptions.assumeFalse(fixture().capabilities().contains(Capability.TELLS_WANTED), "the engine can tell");
        assertThatExceptionOfType(LockConfigurationException.class)
                .isThrownBy(() -> client().lock(NAME, STICKY))
                .withMessageContaining(NAME);
    }
}
