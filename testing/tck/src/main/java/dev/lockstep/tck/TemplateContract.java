package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** The template takes a lock, runs work and gives the lock back, whatever happens. */
abstract class TemplateContract extends ContractGroup {
    TemplateContract(LockContract contract) {
        super(contract);
    }

    /** One with more patience than the usual second, where the wait is not what a test is about. */
    private LockTemplate template(LockOptions options) {
        return client().template(options).waitAtMost(Bench.PATIENCE);
    }

    private LockTemplate template() {
        return template(LockOptions.defaults());
    }

    @Test
    void theWorkRunsUnderTheLock() throws Exception {
        String result = template().execute(NAME, lease -> {
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.token()).isPositive();
            assertThat(lock().isHeldByCurrentThread()).isTrue();
            assertThat(bench().isFree(NAME)).isFalse();
            return "done";
        });
        assertThat(result).isEqualTo("done");
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void theWorkIsDoneOnceByOneAtATime() throws Exception {
        int[] guarded = new int[1];
        int rounds = Math.max(10, fixture().attempts() / 20);
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            LockTemplate template = (i % 2 == 0 ? client() : rival()).template().waitAtMost(Duration.ofSeconds(60));
            calls.add(actor("worker-" + i).starts(() -> {
                for (int round = 0; round < rounds; round++) {
                    template.execute(NAME, lease -> guarded[0]++);
                }
            }));
        }
        for (Call<?> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
        assertThat(guarded[0]).isEqualTo(6 * rounds);
    }

    @Test
    void aBusyLockIsReportedWithItsHolder() throws Exception {
        rivalLock().lock();
        AtomicInteger runs = new AtomicInteger();
        // It waits for a second by itself.
        Bench.inVain(Duration.ofSeconds(1), standard -> {
            Duration waited = Bench.timed(() ->
                    assertBusy(() -> client().template().execute(NAME, lease -> runs.incrementAndGet())));
            assertThat(waited).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        });
        assertThat(runs).hasValue(0);
        rivalLock().unlock();
    }

    /** Busy, with the holder's name; what else a call throws comes through. */
    private void assertBusy(Call.Step call) throws Exception {
        try {
            call.run();
        } catch (LockTimeoutException busy) {
            assertThat(busy.lockName()).isEqualTo(NAME);
            assertThat(busy).hasMessageContaining(NAME).hasMessageContaining(rival().name());
            return;
        }
        throw new AssertionError("the work was done while another held the lock");
    }

    @Test
    void theWaitCanBeChanged() throws Exception {
        rivalLock().lock();
        LockTemplate standard = client().template();
        LockTemplate impatient = standard.waitAtMost(Duration.ZERO);
        assertThat(Bench.timed(() -> assertThatThrownBy(() -> impatient.execute(NAME, lease -> 1))
                        .isInstanceOf(LockTimeoutException.class)
                        .hasMessageContaining(rival().name())))
                .isLessThan(Bench.AT_ONCE);
        Actor worker = actor("worker");
        Call<Integer> patient =
                worker.start(() -> standard.waitAtMost(Duration.ofSeconds(60)).execute(NAME, lease -> 2));
        bench().awaitWaiters(NAME, 1);
        rivalLock().unlock();
        assertThat(patient.get()).isEqualTo(2);
        int third = impatient.execute(NAME, lease -> 3);
        assertThat(third).isEqualTo(3);
    }

    @Test
    void whatTheWorkThrowsComesThroughUnchanged() {
        for (Throwable thrown : List.of(new IOException("checked"), new IllegalStateException("unchecked"))) {
            assertThatThrownBy(() -> template().execute(NAME, lease -> {
                        throw (Exception) thrown;
                    }))
                    .isSameAs(thrown);
            assertThat(bench().isFree(NAME)).isTrue();
        }
        Error error = new StackOverflowError("error");
        assertThatThrownBy(() -> template().execute(NAME, lease -> {
                    throw error;
                }))
                .isSameAs(error);
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aLossIsReportedOnceTheWorkHasReturned() {
        AtomicInteger runs = new AtomicInteger();
        LockTemplate bounded = template(LockOptions.defaults().lease(Duration.ofMillis(200)));
        assertThatThrownBy(() -> bounded.execute(NAME, lease -> {
                    Bench.await("the hold is lost", () -> !lease.isValid());
                    return runs.incrementAndGet();
                }))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining(NAME);
        assertThat(runs).hasValue(1);
        bench().awaitFree(NAME);
    }

    @Test
    void whatTheWorkThrowsGoesBeforeALoss() {
        IOException thrown = new IOException("mine");
        LockTemplate bounded = template(LockOptions.defaults().lease(Duration.ofMillis(200)));
        assertThatThrownBy(() -> bounded.execute(NAME, lease -> {
                    Bench.await("the hold is lost", () -> !lease.isValid());
                    throw thrown;
                }))
                .isSameAs(thrown);
        bench().awaitFree(NAME);
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        rivalLock().lock();
        AtomicInteger runs = new AtomicInteger();
        Actor worker = actor("worker");
        LockTemplate patient = client().template().waitAtMost(Duration.ofSeconds(60));
        Call<Boolean> waiting =
                worker.starts(() -> assertThatThrownBy(() -> patient.execute(NAME, lease -> runs.incrementAndGet()))
                        .isExactlyInstanceOf(InterruptedException.class));
        bench().awaitWaiters(NAME, 1);
        worker.interrupt();
        waiting.get();
        rivalLock().unlock();
        worker.does(() -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> patient.execute(NAME, lease -> runs.incrementAndGet()))
                    .isExactlyInstanceOf(InterruptedException.class);
        });
        assertThat(runs).hasValue(0);
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void anInterruptOfTheWorkIsTheWorksOwn() throws Exception {
        boolean flag = actor("worker").call(() -> {
            template().execute(NAME, lease -> {
                Thread.currentThread().interrupt();
                return 1;
            });
            return Thread.interrupted();
        });
        assertThat(flag).isTrue();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void templatesNest() throws Exception {
        LockTemplate template = template();
        int sum = template.execute(
                NAME,
                outer -> template.execute(
                        NAME, inner -> template.execute("another", third -> outer.token() == inner.token() ? 3 : 0)));
        assertThat(sum).isEqualTo(3);
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    @NullUnmarked
    void workMayReturnNothing() throws Exception {
        Object nothing = template().<Object, RuntimeException>execute(NAME, lease -> null);
        assertThat(nothing).isNull();
    }
}
