package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Fallback;
import dev.lockstep.Leader;
import dev.lockstep.LeaderElection;
import dev.lockstep.LeaderTask;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LossReason;
import dev.lockstep.Term;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Leader elections: one leads, and when it ends, however it ends, the next one does. Several tests reproduce reports of
 * two leaders, or of none, in other libraries.
 */
abstract class ElectionContract extends ElectionGroup {
    ElectionContract(LockContract contract) {
        super(contract);
    }

    @Test
    void oneLeadsAndTheOthersStandBy() throws Exception {
        Candidate first = first();
        Term term = first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        assertThat(term.isValid()).isTrue();
        assertThat(term.lockName()).isEqualTo(NAME);
        assertThat(first.election().isLeader()).isTrue();
        assertThat(second.election().isLeader()).isFalse();
        assertThat(second.election().resign()).isFalse();
        assertThat(second.hasTerm()).isFalse();
        assertThat(bench().isFree(NAME)).isFalse();
    }

    @Test
    @Requires(Capability.FAIR)
    void aTaskThatReturnsHandsOverAndTermsRise() throws Exception {
        Candidate first = first();
        Term before = first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        first.letTaskReturn();
        Term after = second.nextTerm();
        assertThat(after.token()).isGreaterThan(before.token());
        assertThat(before.isValid()).isFalse();
        assertThat(after.isValid()).isTrue();
        bench().awaitWaiters(NAME, 1); // the first is a candidate again
        second.letTaskReturn();
        assertThat(first.nextTerm().token()).isGreaterThan(after.token());
    }

    /** Repeated calls must not break the return to the queue, as in CURATOR-518. */
    @Test
    @Requires(Capability.FAIR)
    void aLeaderThatResignsIsInterruptedAndBecomesACandidateAgain() throws Exception {
        Candidate first = first();
        Term before = first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        assertThat(first.election().resign()).isTrue();
        assertThat(first.election().resign()).isFalse();
        assertThat(first.election().isLeader()).isFalse();
        Term after = second.nextTerm();
        assertThat(before.isValid()).isFalse();
        assertThat(first.interrupts()).isEqualTo(1);
        assertThat(first.election().resign()).isFalse();
        bench().awaitWaiters(NAME, 1);
        assertThat(second.election().resign()).isTrue();
        assertThat(first.nextTerm().token()).isGreaterThan(after.token());
        assertThat(second.interrupts()).isEqualTo(1);
    }

    @Test
    void closingHandsOverAtOnce() throws Exception {
        Candidate first = first();
        Term before = first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        first.election().close();
        assertThat(first.taskRuns()).isFalse();
        assertThat(before.isValid()).isFalse();
        assertThat(second.nextTerm().token()).isGreaterThan(before.token());
        first.election().close();
        assertThat(first.election().isLeader()).isFalse();
    }

    @Test
    void closingTheClientHandsOverAtOnceToo() throws Exception {
        LockClient closed = open(builder -> builder.clientName("closed"));
        Candidate first = candidate(closed, "first");
        Term before = first.nextTerm();
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        before.onLost(reasons::add);
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        closed.close();
        assertThat(before.isValid()).isFalse();
        second.nextTerm();
        Bench.await("the task has ended", () -> first.interrupts() == 1 && !first.taskRuns());
        Bench.await("the loss is reported", () -> !reasons.isEmpty());
        assertThat(reasons).containsExactly(LossReason.CLIENT_CLOSED);
    }

    @Test
    void aCandidateThatDoesNotLeadLeavesNothingWhenItCloses() throws Exception {
        Candidate first = first();
        first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        second.election().close();
        bench().awaitWaiters(NAME, 0);
        first.close();
        bench().awaitFree(NAME);
        assertThat(second.hasTerm()).isFalse();
    }

    @Test
    void otherClientsSeeTheLeaderWithItsPayload() throws Exception {
        Candidate first = candidate(client(), "https://10.0.0.1:8443/größe/中文/😀");
        Term term = first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        Leader leader = second.election().leader().orElseThrow();
        assertThat(leader.payload()).isEqualTo("https://10.0.0.1:8443/größe/中文/😀");
        assertThat(leader.term()).isEqualTo(term.token());
        assertThat(leader.holder().client()).isEqualTo("client");
        assertThat(rival().inspect(NAME).holders().get(0).holder().thread())
                .isEqualTo("election https://10.0.0.1:8443/größe/中文/😀");
        first.close();
        Term next = second.nextTerm();
        assertThat(client().leader(NAME)).get().satisfies(now -> {
            assertThat(now.payload()).isEqualTo("second");
            assertThat(now.term()).isEqualTo(next.token());
        });
        second.close();
        assertThat(client().leader(NAME)).isEmpty();
    }

    @Test
    void aPayloadMayBeEmptyOrAsLongAsAllowed() throws Exception {
        Candidate first = candidate(client(), "");
        first.nextTerm();
        assertThat(rival().leader(NAME).orElseThrow().payload()).isEmpty();
        first.close();
        String longest = "x".repeat(100);
        candidate(rival(), longest).nextTerm();
        assertThat(client().leader(NAME).orElseThrow().payload()).isEqualTo(longest);
    }

    @Test
    void unusableElectionsAreRejected() {
        LeaderTask task = term -> {};
        for (String payload : List.of("x".repeat(101), "a\nb", "a\u2028b", "\ud800")) {
            assertThatThrownBy(() -> client().election(NAME, payload, task))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("payload");
        }
        assertThatThrownBy(() -> client().election("", task)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aHolderOfThePlainLockIsNoLeader() throws Exception {
        try (var lease = lock().acquire()) {
            Candidate second = second();
            bench().awaitWaiters(NAME, 1);
            assertThat(client().leader(NAME)).isEmpty();
            assertThat(second.hasTerm()).isFalse();
            assertThat(lease.isValid()).isTrue();
        }
    }

    /** No other candidate can win here, so this needs no order. */
    @Test
    void anOnlyCandidateThatResignsIsElectedAgain() throws Exception {
        Candidate only = first();
        Term before = only.nextTerm();
        assertThat(only.election().resign()).isTrue();
        assertThat(only.election().isLeader()).isFalse();
        assertThat(only.nextTerm().token()).isGreaterThan(before.token());
        assertThat(only.interrupts()).isEqualTo(1);
    }

    @Test
    void listenersLearnOfEachLeader() throws Exception {
        Candidate first = first();
        long term = first.nextTerm().token();
        Candidate watcher = candidate(openRenewing("watcher"), "watcher");
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        watcher.election()
                .onChange(leader -> seen.add(leader.map(Leader::payload).orElse("nobody")));
        Bench.await("it hears of the present leader", () -> List.copyOf(seen).equals(List.of("first")));
        Queue<Long> terms = new ConcurrentLinkedQueue<>();
        watcher.election().onChange(leader -> leader.map(Leader::term).ifPresent(terms::add));
        Bench.await("a later listener hears of the present leader", () -> terms.contains(term));
        Candidate second = second();
        first.close();
        Bench.await("one of the others leads", () -> second.hasTerm() || watcher.hasTerm());
        String next = client().leader(NAME).orElseThrow().payload();
        Bench.await("it hears of the next", () -> seen.contains(next));
        watcher.close();
        assertThat(List.copyOf(terms)).isSorted().doesNotHaveDuplicates();
    }

    /** Well before the look that each third of the ttl brings. */
    @Test
    @Requires({Capability.PUSHES_CHANGES, Capability.FAIR})
    void aChangeAmongOthersIsPushed() throws Exception {
        Candidate first = first();
        first.nextTerm();
        Candidate second = second();
        bench().awaitWaiters(NAME, 1);
        LockClient patient = open(builder -> builder.clientName("watcher").ttl(Duration.ofSeconds(90)));
        Candidate watcher = candidate(patient, "watcher");
        bench().awaitWaiters(NAME, 2);
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        watcher.election()
                .onChange(leader -> seen.add(leader.map(Leader::payload).orElse("nobody")));
        Bench.await("it hears of the present leader", () -> seen.contains("first"));
        long start = System.nanoTime();
        first.close();
        Bench.await("it hears of the next", () -> seen.contains("second"));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
        second.close();
        Bench.await("it hears of itself", () -> seen.contains("watcher"));
    }

    @Test
    void aClientHasOneCandidateOfAName() throws Exception {
        Candidate first = first();
        first.nextTerm();
        assertThatThrownBy(() -> client().election(NAME, term -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(NAME);
        first.close();
        first().nextTerm();
    }

    @Test
    void aClientWithAFallbackHasNoElections() {
        LockClient client = open(builder -> builder.fallback(Fallback.thisJvmOnly()));
        assertThatThrownBy(() -> client.election(NAME, term -> {}))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("fallback");
    }

    /** Terms begin and end in every way, and no two are valid at once: curator #568 and #1169. */
    @Test
    void noTwoTermsAreValidAtOnce() throws Exception {
        int count = Math.min(60, fixture().attempts() / 10);
        AtomicReference<Term> current = new AtomicReference<>();
        Queue<String> faults = new ConcurrentLinkedQueue<>();
        CountDownLatch enough = new CountDownLatch(count);
        List<LeaderElection> elections = new ArrayList<>();
        LeaderTask task = term -> {
            Term before = current.getAndSet(term);
            if (before != null && (before.isValid() || before.token() >= term.token())) {
                faults.add(term + " began beside " + before);
            }
            enough.countDown();
            if (ThreadLocalRandom.current().nextInt(4) == 0) {
                throw new IllegalStateException("a task of a test fails");
            }
            new CountDownLatch(1).await(ThreadLocalRandom.current().nextInt(5), TimeUnit.MILLISECONDS);
        };
        for (String name : List.of("one", "two", "three")) {
            elections.add(open(builder -> builder.clientName(name)).election(NAME, name, task));
        }
        try {
            while (!enough.await(5, TimeUnit.MILLISECONDS)) {
                LeaderElection any = elections.get(ThreadLocalRandom.current().nextInt(elections.size()));
                if (any.isLeader()) {
                    any.resign();
                }
                assertThat(elections.stream().filter(LeaderElection::isLeader).count())
                        .isLessThanOrEqualTo(2); // asked one after the other
            }
        } finally {
            elections.forEach(LeaderElection::close);
        }
        assertThat(faults).isEmpty();
        // A claim that was on its way when its candidate was closed is withdrawn, and may be granted before that.
        Bench.await("nobody leads", () -> client().leader(NAME).isEmpty());
    }
}
