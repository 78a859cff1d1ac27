package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Leader;
import dev.lockstep.LeaderElection;
import dev.lockstep.LockClient;
import dev.lockstep.Term;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Terms: how the task of a leader ends, and what happens to a leader that is lost, stuck, cut off or dead. */
abstract class TermContract extends ElectionGroup {
    TermContract(LockContract contract) {
        super(contract);
    }

    /** A candidate claims again only when its task has returned, however long that takes. */
    @Test
    void theTaskIsInterruptedOnLossAndReturnsBeforeItsNextClaim() throws Exception {
        Candidate stubborn = stubborn(client());
        Term lost = stubborn.nextTerm();
        rival().forceRelease(NAME);
        Bench.await("the loss is noticed", () -> !lost.isValid());
        Bench.await("the task is interrupted", () -> stubborn.interrupts() == 1);
        assertThat(stubborn.election().isLeader()).isFalse();
        assertThat(stubborn.election().resign()).isFalse();
        Candidate second = second();
        Term next = second.nextTerm();
        second.close();
        bench().awaitFree(NAME);
        Bench.letPass(Duration.ofMillis(200)); // in which the first would stand again, if it did not wait for its task
        assertThat(stubborn.taskRuns()).isTrue();
        assertThat(bench().isFree(NAME)).as("nobody stands").isTrue();
        stubborn.letTaskReturn();
        assertThat(stubborn.nextTerm().token()).isGreaterThan(next.token());
        assertThat(stubborn.interrupts()).isEqualTo(1);
    }

    @Test
    void aTaskThatDoesNotReturnLosesItsTermAfterTheRequestTimeout() throws Exception {
        LockClient impatient =
                openGivingUpSoon(builder -> builder.clientName("impatient").requestTimeout(Duration.ofSeconds(1)));
        Candidate stubborn = stubborn(impatient);
        Term term = stubborn.nextTerm();
        stubborn.election().close();
        assertThat(stubborn.taskRuns()).isTrue();
        assertThat(term.isValid()).isFalse();
        second().nextTerm();
        assertThatThrownBy(() -> impatient.election(NAME, next -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void aTaskMayCloseItsOwnElection() throws Exception {
        CompletableFuture<LeaderElection> election = new CompletableFuture<>();
        CountDownLatch over = new CountDownLatch(1);
        election.complete(client().election(NAME, term -> {
            election.get().close();
            assertThat(term.isValid()).isTrue();
            over.countDown();
        }));
        assertThat(over.await(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        bench().awaitFree(NAME);
    }

    @Test
    void aTaskMayEndItsTermAndContinue() throws Exception {
        Candidate first = first();
        Term term = first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        term.close();
        assertThat(term.isValid()).isFalse();
        assertThat(first.election().isLeader()).isFalse();
        assertThat(first.election().resign()).as("it has no term to give up").isFalse();
        second.nextTerm();
        assertThat(first.taskRuns()).isTrue();
        assertThat(first.interrupts()).isZero();
        first.election().close();
        Bench.await("the task is stopped", () -> !first.taskRuns());
        assertThat(first.interrupts()).isEqualTo(1);
    }

    /** A pause can outlast any term, and a task may ignore its interrupt: the number of the term stops such a leader. */
    @Test
    void storageRefusesALeaderWhoseTermIsOverOnceTheNextHasWritten(@TempDir Path folder) throws Exception {
        GuardedFile storage = new GuardedFile(folder.resolve("storage"));
        storage.reset();
        Term old = stubborn(client()).nextTerm();
        rival().forceRelease(NAME);
        Term next = second().nextTerm();
        storage.increment(next.token());
        assertThatThrownBy(() -> storage.increment(old.token())).isInstanceOf(IOException.class);
        assertThat(storage.count()).isEqualTo(1);
    }

    @Test
    void aTaskThatFailsIsRunAgain() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch again = new CountDownLatch(1);
        try (LeaderElection election = client().election(NAME, term -> {
            if (runs.incrementAndGet() < 3) {
                throw new IllegalStateException("a task of a test fails");
            }
            again.countDown();
            new CountDownLatch(1).await();
        })) {
            assertThat(again.await(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(election.isLeader()).isTrue();
        }
    }

    /** A leader that comes back with what is left of its old session is no leader: curator #1137 and #1211. */
    @Test
    @Requires({Capability.EXPIRE_SESSION, Capability.FAIR})
    void aLeaderWhoseSessionEndsQueuesBehindTheNext() throws Exception {
        LockClient expired = openRenewing("expired");
        Candidate first = candidate(expired, "first");
        Term lost = first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        fixture().expireSession(expired);
        Term next = second.nextTerm();
        Bench.await("the leader knows", () -> !lost.isValid());
        Bench.await("its task is interrupted", () -> first.interrupts() == 1);
        assertThat(next.token()).isGreaterThan(lost.token());
        bench().awaitWaiters(NAME, 1);
        assertThat(next.isValid()).isTrue();
        second.letTaskReturn();
        assertThat(first.nextTerm().token()).isGreaterThan(next.token());
    }

    /** A tolerance for lost connections must not be longer than the engine's: curator #980. */
    @Test
    @Requires(Capability.BREAK_CONNECTION)
    void aLeaderThatIsCutOffIsReplacedInTimeAndNeverBesideTheNext() throws Exception {
        LockClient cutOff = openShortLived("cut off");
        Candidate first = candidate(cutOff, "first");
        Term lost = first.nextTerm();
        AtomicInteger both = new AtomicInteger();
        CountDownLatch replaced = new CountDownLatch(1);
        try (LeaderElection second = rival().election(NAME, "second", term -> {
            both.addAndGet(lost.isValid() ? 1 : 0);
            replaced.countDown();
            new CountDownLatch(1).await();
        })) {
            bench().awaitWaiters(NAME, 1);
            fixture().breakConnection(cutOff);
            assertThat(replaced.await(inTime().toMillis(), TimeUnit.MILLISECONDS))
                    .isTrue();
            assertThat(both).as("leaders at once").hasValue(0);
            Bench.await("its task is interrupted", () -> first.interrupts() == 1);
            fixture().healConnection(cutOff);
            assertThat(second.isLeader()).isTrue();
        }
        assertThat(first.nextTerm().token()).isGreaterThan(lost.token());
    }

    @Test
    @Requires(Capability.SECOND_PROCESS)
    void aLeaderThatDiesIsReplacedInTime() throws Exception {
        try (SecondProcess other =
                SecondProcess.start(fixture().url().orElseThrow(), bench().namespace(), shortTtl())) {
            assertThat(other.ask("elect " + NAME)).isEqualTo("ok");
            long term = Long.parseLong(other.ask("token " + NAME));
            Candidate second = second();
            bench().awaitWaiters(NAME, 1);
            assertThat(client().leader(NAME).map(Leader::term)).contains(term);
            other.kill();
            assertThat(second.nextTerm(inTime()).token()).isGreaterThan(term);
        }
    }

    @Test
    @Tag("full")
    @Requires(Capability.SECOND_PROCESS)
    void aLeaderThatWasPausedLearnsOfItsEndBeforeItsNextStep(@TempDir Path folder) throws Exception {
        GuardedFile storage = new GuardedFile(folder.resolve("storage"));
        storage.reset();
        try (SecondProcess other =
                SecondProcess.start(fixture().url().orElseThrow(), bench().namespace(), shortTtl())) {
            assertThat(other.ask("elect " + NAME)).isEqualTo("ok");
            other.pause();
            Candidate second = second();
            Term term = second.nextTerm(inTime());
            storage.increment(term.token());
            other.tell("valid " + NAME);
            other.resume();
            assertThat(other.answer()).isEqualTo("false");
            assertThat(other.ask("write " + NAME + " " + folder.resolve("storage")))
                    .as("a write of a leader that does not ask whether its term is valid")
                    .isEqualTo("error IOException");
            assertThat(storage.count()).isEqualTo(1);
            assertThat(term.isValid()).isTrue();
        }
    }

    /** A dead leader is replaced within the ttl and five seconds. */
    private Duration inTime() {
        return shortTtl().plusSeconds(5);
    }
}
