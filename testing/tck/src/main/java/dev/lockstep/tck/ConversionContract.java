package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.SelfDeadlockException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A writer may become a reader (downgrade); a reader cannot become a writer (upgrade): that throws at once. */
abstract class ConversionContract extends ContractGroup {
    private static final Duration LONG = Duration.ofSeconds(60);

    ConversionContract(LockContract contract) {
        super(contract);
    }

    private DistributedReadWriteLock locks() {
        return client().readWriteLock(NAME);
    }

    private DistributedReadWriteLock rivalLocks() {
        return rival().readWriteLock(NAME);
    }

    @Test
    void anEngineWithoutSharedLocksSaysSo() {
        assumeFalse(fixture().capabilities().contains(Capability.SHARED), "the engine has shared locks");
        assertThatThrownBy(() -> client().readWriteLock(NAME)).isInstanceOf(LockConfigurationException.class);
    }

    @Test
    @Requires(Capability.SHARED)
    void aWriterMayReadAndStillExcludesOthers() throws Exception {
        locks().writeLock().lock();
        locks().readLock().lock();
        assertThat(locks().readLock().isHeldByCurrentThread()).isTrue();
        assertThat(locks().writeLock().isHeldByCurrentThread()).isTrue();
        assertThat(rivalLocks().readLock().tryLock()).isFalse();
        locks().readLock().unlock();
        assertThat(rivalLocks().readLock().tryLock()).isFalse();
        locks().writeLock().unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    @Requires(Capability.SHARED)
    void aDowngradedWriterIsAReader() throws Exception {
        locks().writeLock().lock();
        locks().readLock().lock();
        locks().writeLock().unlock();
        assertThat(locks().readLock().isHeldByCurrentThread()).isTrue();
        assertThat(locks().writeLock().isHeldByCurrentThread()).isFalse();
        assertThat(rivalLocks().writeLock().tryLock()).isFalse();
        locks().readLock().unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    @Requires(Capability.SHARED)
    void aWriterThatWaitsIsServedAfterADowngradedReader() throws Exception {
        locks().writeLock().lock();
        Actor writer = actor("writer");
        Call<Boolean> waiting = writer.starts(() -> rivalLocks().writeLock().lock());
        bench().awaitWaiters(NAME, 1);
        locks().readLock().lock();
        locks().writeLock().unlock();
        writer.awaitParked();
        assertThat(waiting.isDone()).isFalse();
        locks().readLock().unlock();
        waiting.get();
        writer.does(() -> rivalLocks().writeLock().unlock());
    }

    @Test
    @Requires(Capability.SHARED)
    void aReaderThatWaitsIsServedAtTheLatestWhenTheDowngradedOneLeaves() throws Exception {
        locks().writeLock().lock();
        Actor local = actor("local reader");
        Actor remote = actor("remote reader");
        Call<Boolean> localWait = local.starts(() -> locks().readLock().lock());
        Call<Boolean> remoteWait = remote.starts(() -> rivalLocks().readLock().lock());
        bench().awaitWaiters(NAME, 1);
        local.awaitParked();
        locks().readLock().lock();
        locks().writeLock().unlock();
        locks().readLock().unlock();
        localWait.get();
        local.does(() -> locks().readLock().unlock());
        remoteWait.get();
        remote.does(() -> rivalLocks().readLock().unlock());
    }

    @Test
    @Requires({Capability.SHARED, Capability.DOWNGRADE})
    void aDowngradeLetsReadersOfOtherClientsIn() throws Exception {
        locks().writeLock().lock();
        Actor waiting = actor("waiting reader");
        Call<Boolean> wait = waiting.starts(() -> rivalLocks().readLock().lock());
        bench().awaitWaiters(NAME, 1);
        locks().readLock().lock();
        locks().writeLock().unlock();
        wait.get();
        DistributedReadWriteLock third = bench().client("third").readWriteLock(NAME);
        third.readLock().lock();
        assertThat(locks().readLock().isHeldByCurrentThread()).isTrue();
        third.readLock().unlock();
        waiting.does(() -> rivalLocks().readLock().unlock());
        locks().readLock().unlock();
    }

    @Test
    @Requires(Capability.SHARED)
    void anUpgradeThatWouldWaitForItselfThrowsAtOnce() throws Exception {
        Actor reader = actor("reader");
        forEach(Way.ofAThread(), way -> {
            reader.does(() -> {
                locks().readLock().lock();
                assertThat(Bench.timed(() -> assertThatThrownBy(() -> way.take(locks().writeLock(), LONG))
                                .isInstanceOf(SelfDeadlockException.class)
                                .hasMessageContaining(NAME)))
                        .isLessThan(Bench.AT_ONCE);
                assertThat(locks().readLock().holdCount()).isEqualTo(1);
                assertThat(locks().writeLock().holdCount()).isZero();
            });
            assertThat(rivalLocks().readLock().tryLock()).isTrue();
            rivalLocks().readLock().unlock();
            reader.does(() -> locks().readLock().unlock());
        });
    }

    @Test
    @Requires(Capability.SHARED)
    void anUpgradeAfterADowngradeIsRefusedToo() throws Exception {
        locks().writeLock().lock();
        locks().readLock().lock();
        locks().writeLock().lock();
        assertThat(locks().writeLock().holdCount()).isEqualTo(2);
        locks().writeLock().unlock();
        locks().writeLock().unlock();
        assertThatThrownBy(locks().writeLock()::lock).isInstanceOf(SelfDeadlockException.class);
        assertThatThrownBy(locks().writeLock()::tryLock).isInstanceOf(SelfDeadlockException.class);
        locks().readLock().unlock();
    }
}
