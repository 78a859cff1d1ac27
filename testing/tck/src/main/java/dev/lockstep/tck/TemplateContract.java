package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockNotAcquiredException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The template takes a lock, runs work and releases the lock, whatever happens. */
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
    void exceptionsOfTheWorkAreUnchanged() {
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
        LockTemplate bounded = template(LockOptions.defaults().maxHold(Duration.ofMillis(200)));
        assertThatThrownBy(() -> bounded.execute(NAME, lease -> {
                    Bench.await("the hold is lost", () -> !lease.isValid());
                    return runs.incrementAndGet();
                }))
                .isInstanceOfSatisfying(
                        LockLostAfterWorkException.class,
                        lost -> assertThat(lost.result()).isEqualTo(1))
                .hasMessageContaining(NAME);
        assertThat(runs).hasValue(1);
        bench().awaitFree(NAME);
    }

    @Test
    void fencedWorkReturnsItsResultDespiteALoss() throws Exception {
        LockTemplate bounded =
                template(LockOptions.defaults().maxHold(Duration.ofMillis(200))).fenced();
        assertThat(bounded.<String, RuntimeException>execute(NAME, lease -> {
                    Bench.await("the hold is lost", () -> !lease.isValid());
                    return "sold";
                }))
                .isEqualTo("sold");
        bench().awaitFree(NAME);
        assertThat(bounded.waitAtMost(Bench.PATIENCE).<Integer, RuntimeException>execute(NAME, lease -> 1))
                .isEqualTo(1);
    }

    /** The result of an inner template is not that of the outer work, which did not end. */
    @Test
    void aLossAfterInnerWorkIsNoResultOfTheOuter() {
        LockTemplate bounded = template(LockOptions.defaults().maxHold(Duration.ofMillis(200)));
        assertThatThrownBy(() -> bounded.execute(
                        NAME,
                        outer -> bounded.execute(NAME, inner -> {
                            Bench.await("the hold is lost", () -> !inner.isValid());
                            return "inner";
                        })))
                .isExactlyInstanceOf(LockLostException.class)
                .hasCauseInstanceOf(LockLostAfterWorkException.class);
        bench().awaitFree(NAME);
    }

    @Test
    @Requires(Capability.BREAK_CONNECTION)
    void aReleaseThatIsNotConfirmedDoesNotLoseTheResult() throws Exception {
        LockClient cutOff =
                openGivingUpSoon(builder -> builder.clientName("cut-off").requestTimeout(shortRequestTimeout()));
        LockTemplate template = cutOff.template().waitAtMost(Bench.PATIENCE);
        assertThat(template.<String, RuntimeException>execute(NAME, lease -> {
                    fixture().breakConnection(cutOff);
                    return "sold";
                }))
                .isEqualTo("sold");
        IOException thrown = new IOException("mine");
        fixture().healConnection(cutOff);
        assertThatThrownBy(() -> template.execute(NAME, lease -> {
                    fixture().breakConnection(cutOff);
                    throw thrown;
                }))
                .isSameAs(thrown)
                .satisfies(failure ->
                        assertThat(failure.getSuppressed()).hasOnlyElementsOfType(ReleaseNotConfirmedException.class));
        fixture().healConnection(cutOff);
        bench().awaitFree(NAME);
    }

    /** A caller that retries only calls that did not acquire the lock does everything once. */
    @Alone
    @Test
    @Tag("full")
    void everyBuyerIsInformedOnceWhateverHappensToTheLock() throws Exception {
        Sale sale = new Sale();
        boolean breakable = fixture().capabilities().contains(Capability.BREAK_CONNECTION);
        List<Call<Boolean>> shops = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            LockClient shop = openImpatient("shop-" + i);
            LockTemplate template = shop.template().waitAtMost(Bench.PATIENCE).fenced();
            shops.add(actor("shop-" + i).starts(() -> sale.sellAll(template)));
            if (i == 0 && breakable) {
                sale.disturbances.add(() -> fixture().healConnection(shop));
                sale.disturbances.add(() -> fixture().breakConnection(shop));
            }
            if (fixture().capabilities().contains(Capability.EXPIRE_SESSION)) {
                sale.disturbances.add(() -> fixture().expireSession(shop));
            }
        }
        sale.disturbances.add(() -> rival().forceRelease(NAME));
        if (fixture().capabilities().contains(Capability.RESTART_SERVER)) {
            sale.disturbances.add(() -> fixture().restartServer());
        }
        sale.disturb();
        if (breakable) {
            sale.disturbances.get(0).run();
        }
        for (Call<Boolean> shop : shops) {
            shop.get(Duration.ofSeconds(100));
        }
        assertThat(sale.informed).hasValue(sale.sold.get());
        assertThat(sale.sold).hasValue(Sale.STOCK);
        bench().awaitFree(NAME);
    }

    /** Storage that checks tokens, and shops that sell from it. */
    private static final class Sale {
        static final int STOCK = 60;

        final List<Runnable> disturbances = new ArrayList<>();
        final AtomicInteger sold = new AtomicInteger();
        final AtomicInteger informed = new AtomicInteger();
        private long newest; // guarded by this

        void sellAll(LockTemplate template) throws InterruptedException {
            while (sold.get() < STOCK) {
                try {
                    if (template.<Boolean, RuntimeException>execute(NAME, lease -> sellOne(lease))) {
                        informed.incrementAndGet();
                    }
                } catch (LockNotAcquiredException | StaleException e) {
                    // Nothing was sold: the buyer tries again.
                }
            }
        }

        private boolean sellOne(Lease lease) {
            long token = token(lease);
            if (show(token, 0) == STOCK) {
                return false;
            }
            Bench.letPass(Duration.ofMillis(5));
            show(token, 1);
            Bench.letPass(Duration.ofMillis(15)); // a loss from here on must not lose the sale
            return true;
        }

        private static long token(Lease lease) {
            try {
                return lease.token();
            } catch (LockLostException e) {
                throw new StaleException();
            }
        }

        private synchronized int show(long token, int more) {
            if (token < newest) {
                throw new StaleException();
            }
            newest = token;
            return sold.addAndGet(more);
        }

        void disturb() {
            for (int i = 0; sold.get() < STOCK; i++) {
                Bench.letPass(Duration.ofMillis(150));
                disturbances.get(i % disturbances.size()).run();
            }
        }
    }

    private static final class StaleException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void exceptionsOfTheWorkHavePriorityOverALoss() {
        IOException thrown = new IOException("mine");
        LockTemplate bounded = template(LockOptions.defaults().maxHold(Duration.ofMillis(200)));
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
