package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The template runs every kind of work under every kind of lock. */
abstract class TemplateVariantsContract extends ContractGroup {
    TemplateVariantsContract(LockContract contract) {
        super(contract);
    }

    private LockTemplate template() {
        return client().template().waitAtMost(Bench.PATIENCE);
    }

    private static LockTemplate atOnce(LockClient client) {
        return client.template().waitAtMost(Duration.ZERO);
    }

    @Test
    void workWithoutAResultRunsUnderTheLock() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        template().run(NAME, lease -> {
            assertThat(lease.token()).isPositive();
            assertThat(rivalLock().tryLock()).isFalse();
            runs.incrementAndGet();
        });
        assertThat(runs).hasValue(1);
        IOException thrown = new IOException("mine");
        assertThatThrownBy(() -> template().run(lock(), lease -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    @Requires(Capability.SHARED)
    void workUnderAReadLockLetsOtherReadersIn() throws Exception {
        DistributedLock rivals = rival().readWriteLock(NAME).readLock();
        boolean shared = template().execute(client().readWriteLock(NAME).readLock(), lease -> {
            assertThat(rivalLock().tryLock()).isFalse();
            return rivals.tryLock(Bench.PATIENCE);
        });
        assertThat(shared).isTrue();
        assertThatThrownBy(() -> atOnce(client()).execute(lock(), lease -> 1))
                .isInstanceOf(LockTimeoutException.class)
                .hasMessageContaining(rival().name());
        rivals.unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void workUnderAMultiLockHasAllItsLocksOrDoesNotRun() throws Exception {
        DistributedLock both = client().multiLock("order:41", NAME);
        template().run(both, lease -> {
            assertThat(lease.token(NAME)).isPositive();
            assertThat(bench().isFree("order:41")).isFalse();
            assertThat(bench().isFree(NAME)).isFalse();
        });
        AtomicInteger runs = new AtomicInteger();
        rivalLock().lock();
        assertThatThrownBy(() -> atOnce(client()).execute(both, lease -> runs.incrementAndGet()))
                .isInstanceOf(LockTimeoutException.class)
                .hasMessageContaining(rival().name());
        assertThat(runs).hasValue(0);
        bench().awaitFree("order:41");
        rivalLock().unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void asynchronousWorkHoldsTheLockUntilItsStageIsDone() throws Exception {
        CompletableFuture<Long> working = new CompletableFuture<>();
        CompletableFuture<Long> begun = new CompletableFuture<>();
        CompletableFuture<Long> result = template().executeAsync(NAME, lease -> {
            begun.complete(lease.token());
            return working;
        });
        long token = begun.get(20, TimeUnit.SECONDS);
        assertThat(rivalLock().tryLock()).isFalse();
        AtomicInteger runs = new AtomicInteger();
        assertThatThrownBy(() -> atOnce(rival())
                        .executeAsync(NAME, lease -> CompletableFuture.completedFuture(runs.incrementAndGet()))
                        .get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockTimeoutException.class);
        assertThat(runs).hasValue(0);
        assertThat(result).isNotDone();
        working.complete(token);
        assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo(token);
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void failuresOfAsynchronousWorkAreUnchanged() {
        IOException thrown = new IOException("mine");
        assertThatThrownBy(() -> template()
                        .executeAsync(lock(), lease -> CompletableFuture.failedFuture(thrown))
                        .get(20, TimeUnit.SECONDS))
                .hasCause(thrown);
        assertThat(bench().isFree(NAME)).isTrue();
    }
}
