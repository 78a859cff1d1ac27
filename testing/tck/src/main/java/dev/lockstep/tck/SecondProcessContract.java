package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that need a second process: that a lock outlives neither a killed holder nor a long pause. */
@Requires(Capability.SECOND_PROCESS)
abstract class SecondProcessContract extends ContractGroup {
    SecondProcessContract(LockContract contract) {
        super(contract);
    }

    private SecondProcess startProcess() {
        return startProcess(shortTtl());
    }

    private SecondProcess startProcess(Duration ttl) {
        return SecondProcess.start(fixture().url().orElseThrow(), bench().namespace(), ttl);
    }

    @Test
    void processesExcludeEachOther(@TempDir Path folder) throws Exception {
        GuardedFile file = new GuardedFile(folder.resolve("counter"));
        file.reset();
        int times = Math.max(20, fixture().attempts() / 20);
        try (SecondProcess first = startProcess(Duration.ofSeconds(30));
                SecondProcess second = startProcess(Duration.ofSeconds(30))) {
            first.tell("count " + NAME + " " + folder.resolve("counter") + " " + times);
            second.tell("count " + NAME + " " + folder.resolve("counter") + " " + times);
            for (int i = 0; i < times; i++) {
                try (Lease lease = lock().acquire()) {
                    file.increment(lease.token());
                }
            }
            assertThat(first.answer(Duration.ofSeconds(60))).isEqualTo("ok");
            assertThat(second.answer(Duration.ofSeconds(60))).isEqualTo("ok");
        }
        assertThat(file.count()).isEqualTo(3 * times);
    }

    @Test
    void aProcessThatEndsGivesItsLocksBackAtOnce() {
        try (SecondProcess other = startProcess(Duration.ofSeconds(30))) {
            assertThat(other.ask("acquire " + NAME)).isEqualTo("ok");
            assertThat(bench().isFree(NAME)).isFalse();
        }
        bench().awaitFree(NAME);
    }

    @ParameterizedTest
    @Tag("full")
    @ValueSource(booleans = {true, false})
    void aProcessThatIsEndedWithoutClosingReleasesItsLocksIfAskedTo(boolean bySignal) {
        try (SecondProcess other = startProcess(Duration.ofSeconds(300))) {
            assertThat(other.ask("acquire " + NAME)).isEqualTo("ok");
            if (bySignal) {
                other.terminate();
            } else {
                other.tell("exit");
            }
            bench().awaitFree(NAME);
            Bench.await("it has ended", () -> !other.isAlive());
        }
    }

    @Test
    void theLockOfAKilledProcessFreesItself() throws Exception {
        try (SecondProcess other = startProcess()) {
            assertThat(other.ask("acquire " + NAME)).isEqualTo("ok");
            long token = Long.parseLong(other.ask("token " + NAME));
            Call<Long> next = actor("next").start(() -> {
                try (Lease lease = lock().acquire()) {
                    return lease.token();
                }
            });
            bench().awaitWaiters(NAME, 1);
            other.kill();
            assertThat(next.get(shortTtl().plus(Bench.PATIENCE))).isGreaterThan(token);
        }
    }

    /** Both at once: a part of them would free nothing for the next. */
    @Test
    @Tag("full")
    @Requires(Capability.LIMITS)
    void thePermitsOfAKilledProcessFreeThemselves() throws Exception {
        DistributedSemaphore semaphore = client().semaphore(NAME, 3);
        try (SecondProcess other = startProcess();
                Permit kept = semaphore.acquire()) {
            assertThat(other.ask("permits " + NAME + " 2 3")).isEqualTo("ok");
            long token = Long.parseLong(other.ask("token " + NAME));
            assertThat(semaphore.tryAcquire()).isEmpty();
            other.kill();
            try (Permit next =
                    semaphore.tryAcquire(2, shortTtl().plus(Bench.PATIENCE)).orElseThrow()) {
                assertThat(next.token()).isGreaterThan(token);
                assertThat(next.slots()).doesNotContain(kept.slot());
                assertThat(kept.isValid()).isTrue();
            }
        }
        assertThat(semaphore.availablePermits()).isEqualTo(3);
    }

    @Test
    @Tag("full")
    void aKilledProcessThatWaitedDoesNotHoldUpThoseBehindIt() throws Exception {
        aKilledWaiterIsSkipped("acquire ", LockOptions.defaults());
    }

    @Test
    @Tag("full")
    @Requires(Capability.FAIR)
    void aKilledProcessAtTheHeadOfAFairQueueIsSkipped() throws Exception {
        aKilledWaiterIsSkipped("fair ", LockOptions.defaults().fair());
    }

    private void aKilledWaiterIsSkipped(String request, LockOptions options) throws Exception {
        Lease held = client().lock(NAME, options).acquireAsync().get();
        try (SecondProcess head = startProcess()) {
            head.tell(request + NAME);
            bench().awaitWaiters(NAME, 1);
            Call<Boolean> behind = actor("behind")
                    .starts(() -> rival().lock(NAME, options).acquire().close());
            bench().awaitWaiters(NAME, 2);
            head.kill();
            held.close();
            behind.get(shortTtl().plus(Bench.PATIENCE));
        }
    }

    @Test
    void aPausedHolderLearnsOfItsLossBeforeItsNextStep() throws Exception {
        try (SecondProcess other = startProcess()) {
            assertThat(other.ask("acquire " + NAME)).isEqualTo("ok");
            long token = Long.parseLong(other.ask("token " + NAME));
            other.pause();
            try (Lease next = lock().acquire()) {
                assertThat(next.token()).isGreaterThan(token);
                // The question waits in the pipe: the answer is the first thing it does when it continues.
                other.tell("valid " + NAME);
                other.resume();
                assertThat(other.answer()).isEqualTo("false");
                assertThat(other.ask("try " + NAME)).isEqualTo("error LockLostException");
                assertThat(other.ask("release " + NAME)).isEqualTo("error LockLostException");
                assertThat(other.ask("try " + NAME)).isEqualTo("busy");
                assertThat(next.isValid()).isTrue();
                assertThat(bench().isFree(NAME)).isFalse();
            }
            assertThat(other.ask("acquire " + NAME)).isEqualTo("ok");
            assertThat(Long.parseLong(other.ask("token " + NAME))).isGreaterThan(token);
            assertThat(other.ask("release " + NAME)).isEqualTo("ok");
        }
    }

    /** A sale that was written before the pause counts: its buyer must be informed, although the lock was lost. */
    @Test
    @Tag("full")
    void aPausedHolderKeepsTheResultOfItsWork(@TempDir Path folder) throws Exception {
        Path storage = folder.resolve("counter");
        GuardedFile file = new GuardedFile(storage);
        file.reset();
        try (SecondProcess other = startProcess()) {
            other.tell("sell " + NAME + " " + storage + " " + shortTtl().toMillis());
            Bench.await("it has sold", () -> Files.readString(storage).startsWith("1 "));
            other.pause();
            try (Lease next = lock().acquire()) {
                file.increment(next.token());
            }
            other.resume();
            assertThat(other.answer()).isEqualTo("sold");
            assertThat(file.count()).isEqualTo(2);
        }
    }

    @Test
    @Tag("full")
    void aPauseShorterThanTheTtlLosesNothing() {
        try (SecondProcess other = startProcess(shortTtl().multipliedBy(4))) {
            assertThat(other.ask("acquire " + NAME)).isEqualTo("ok");
            other.pause();
            Bench.letPass(shortTtl());
            other.resume();
            Bench.letPass(shortTtl().multipliedBy(4));
            assertThat(other.ask("valid " + NAME)).isEqualTo("true");
            assertThat(bench().isFree(NAME)).isFalse();
            assertThat(other.ask("release " + NAME)).isEqualTo("ok");
        }
    }

    @Alone
    @Test
    @Tag("full")
    @Requires(Capability.COUNT_REQUESTS)
    void aResumedProcessDoesNotMakeUpForMissedRenewals() throws Exception {
        try (SecondProcess other = startProcess()) {
            long atFirst = fixture().requestCount();
            assertThat(other.ask("acquire " + NAME)).isEqualTo("ok");
            assumeTrue(fixture().requestCount() > atFirst, "the fixture does not count what other processes send");
            other.pause();
            int ttls = 8;
            Bench.letPass(shortTtl().multipliedBy(ttls));
            long before = fixture().requestCount();
            long start = System.nanoTime();
            other.resume();
            assertThat(other.ask("valid " + NAME)).isEqualTo("false");
            Bench.letPass(Duration.ofMillis(300));
            long requests = fixture().requestCount() - before;
            long missed = 3L * ttls; // one every third of the ttl; a new session takes less than half as many requests
            // Renewals that fall due while the test looks on are no burst.
            long due = (System.nanoTime() - start) / shortTtl().dividedBy(3).toNanos();
            assertThat(requests).isLessThan(missed * 3 / 4 + due);
            assertThat(other.ask("release " + NAME)).isEqualTo("error LockLostException");
        }
    }
}
