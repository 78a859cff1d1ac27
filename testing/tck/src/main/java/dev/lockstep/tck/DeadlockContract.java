package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DeadlockException;
import dev.lockstep.DeadlockPolicy;
import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import dev.lockstep.WaitGraph;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that hold locks and wait for others: what the engine shows of them, and what happens to deadlocks. */
@Requires(Capability.RECORDS_WAITS)
abstract class DeadlockContract extends ContractGroup {
    /** How long a thread waits before it is recorded. Shorter than the default, so that the tests are. */
    private static final Duration SOON = Duration.ofMillis(100);

    /** A deadlock is found within 3 seconds if the engine is healthy and the machine is not busy with other tests. */
    private static final Duration FOUND = Duration.ofSeconds(3).plus(Bench.AT_ONCE);

    DeadlockContract(LockContract contract) {
        super(contract);
    }

    private Party party(String name, DeadlockPolicy policy) {
        return party(name, policy, SOON);
    }

    private Party party(String name, DeadlockPolicy policy, Duration recordAfter) {
        RecordingListener heard = new RecordingListener();
        LockClient client = open(builder -> builder.clientName(name)
                .recordWaitsAfter(recordAfter)
                .deadlocks(policy)
                .listener(heard));
        return new Party(client, heard, actor(name));
    }

    private void awaitEdges(int count) {
        LockClient observer = bench().client("observer");
        Bench.awaitAsserted(
                "the engine shows " + count + " holders that wait",
                () -> assertThat(observer.waitGraph().edges()).hasSize(count));
    }

    private static DistributedLock lockOf(Party party, int number) {
        return party.client.lock("lock-" + number);
    }

    /** Lets each party hold a lock and want that of the next, the last one last. */
    private List<Call<Boolean>> ring(List<Party> parties) throws Exception {
        int size = parties.size();
        List<Call<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            parties.get(i).holds(lockOf(parties.get(i), i));
        }
        for (int i = 0; i < size; i++) {
            if (i == size - 1) {
                awaitEdges(size - 1);
            }
            calls.add(parties.get(i).wants(lockOf(parties.get(i), (i + 1) % size)));
        }
        return calls;
    }

    private List<Party> parties(int count, DeadlockPolicy policy) {
        List<Party> parties = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            parties.add(party("party-" + i, policy));
        }
        return parties;
    }

    /** Ends a ring whose last party gave up: the others continue, one after the other. */
    private void othersGoOn(List<Party> parties, List<Call<Boolean>> calls) throws Exception {
        for (int i = parties.size() - 1; i >= 0; i--) {
            parties.get(i).releases(lockOf(parties.get(i), i));
            if (i > 0) {
                assertThat(calls.get(i - 1).get()).isTrue();
            }
        }
        awaitEdges(0);
    }

    @Test
    void aDeadlockOfTwoClientsIsReportedByBoth() throws Exception {
        Party one = party("one", DeadlockPolicy.REPORT, Duration.ofSeconds(1));
        Party two = party("two", DeadlockPolicy.REPORT, Duration.ofSeconds(1));
        one.holds(lockOf(one, 1));
        two.holds(lockOf(two, 2));
        long start = System.nanoTime();
        Call<Boolean> first = one.wants(lockOf(one, 2));
        Call<Boolean> second = two.wants(lockOf(two, 1));
        Bench.await(
                "a client reports it",
                () -> !one.deadlocks().isEmpty() || !two.deadlocks().isEmpty());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(FOUND);
        Bench.await(
                "both report it",
                () -> !one.deadlocks().isEmpty() && !two.deadlocks().isEmpty());

        WaitGraph.Cycle cycle = one.deadlocks().get(0);
        assertThat(cycle.edges()).extracting(WaitGraph.Edge::lock).containsExactlyInAnyOrder("lock-1", "lock-2");
        assertThat(cycle.edges())
                .extracting(edge -> edge.holder().holder().client())
                .containsExactlyInAnyOrder("one", "two");
        assertThat(cycle.edges()).allSatisfy(edge -> {
            assertThat(edge.waitsFor().thread())
                    .startsWith(edge.holder().holder().client() + " #");
            assertThat(edge.waitsFor().isBounded()).isFalse();
            assertThat(edge.holder().token()).isPresent();
            assertThat(edge.holder().claim()).isPresent();
        });
        assertThat(cycle.victim().lock())
                .isEqualTo(two.deadlocks().get(0).victim().lock());
        assertThat(first.isDone() || second.isDone()).as("reported only").isFalse();

        one.actor.interrupt();
        assertThatThrownBy(first::get).isInstanceOf(InterruptedException.class);
        one.releases(lockOf(one, 1));
        assertThat(second.get()).isTrue();
        awaitEdges(0);
        two.releases(lockOf(two, 2));
        assertThat(one.deadlocks()).as("reported once").hasSize(1);
    }

    @Test
    void theYoungestCallOfTwoFails() throws Exception {
        failsTheLastOf(parties(2, DeadlockPolicy.FAIL));
    }

    @Test
    void theYoungestCallOfThreeFails() throws Exception {
        failsTheLastOf(parties(3, DeadlockPolicy.FAIL));
    }

    @Test
    void theYoungestCallOfThreadsOfOneClientFails() throws Exception {
        Party one = party("one", DeadlockPolicy.FAIL);
        failsTheLastOf(List.of(
                one,
                new Party(one.client, one.heard, actor("one-b")),
                new Party(one.client, one.heard, actor("one-c"))));
    }

    @Test
    void aCycleMayLeadTwiceThroughOneClient() throws Exception {
        Party one = party("one", DeadlockPolicy.FAIL);
        failsTheLastOf(
                List.of(one, new Party(one.client, one.heard, actor("one-b")), party("two", DeadlockPolicy.FAIL)));
    }

    private void failsTheLastOf(List<Party> parties) throws Exception {
        List<Call<Boolean>> calls = ring(parties);
        int last = parties.size() - 1;
        assertThatThrownBy(calls.get(last)::get).isInstanceOfSatisfying(DeadlockException.class, failure -> {
            assertThat(failure.lockName()).isEqualTo("lock-0");
            assertThat(failure.cycle().orElseThrow().edges()).hasSize(parties.size());
            for (int i = 0; i < parties.size(); i++) {
                assertThat(failure).hasMessageContaining("holds 'lock-" + i + "'");
            }
        });
        assertThat(calls.subList(0, last)).noneMatch(Call::isDone);
        assertThat(parties.get(last).actor.call(lockOf(parties.get(last), last)::isHeldByCurrentThread))
                .as("no hold fails")
                .isTrue();
        othersGoOn(parties, calls);
    }

    @Test
    void aCallWithADeadlineIsReportedButDoesNotFail() throws Exception {
        Party one = party("one", DeadlockPolicy.FAIL);
        Party two = party("two", DeadlockPolicy.FAIL);
        List<Call<Boolean>> calls = timedRing(one, two);
        Bench.await(
                "both report it",
                () -> !one.deadlocks().isEmpty() && !two.deadlocks().isEmpty());
        assertThat(one.deadlocks().get(0).edges())
                .allMatch(edge -> edge.waitsFor().isBounded());
        Bench.letPass(SOON.multipliedBy(3));
        two.actor.interrupt();
        one.actor.interrupt();
        for (Call<Boolean> call : calls) { // before a release could serve it
            assertThatThrownBy(call::get).isInstanceOf(InterruptedException.class);
        }
        two.releases(lockOf(two, 2));
        one.releases(lockOf(one, 1));
    }

    @Test
    void aCallWithADeadlineFailsIfItIsToFail() throws Exception {
        Party one = party("one", DeadlockPolicy.FAIL_TIMED_TOO);
        Party two = party("two", DeadlockPolicy.FAIL_TIMED_TOO);
        List<Call<Boolean>> calls = timedRing(one, two);
        assertThatThrownBy(calls.get(1)::get).isInstanceOf(DeadlockException.class);
        two.releases(lockOf(two, 2));
        assertThat(calls.get(0).get()).isTrue();
        one.actor.does(lockOf(one, 2)::unlock);
        one.releases(lockOf(one, 1));
    }

    private List<Call<Boolean>> timedRing(Party one, Party two) throws Exception {
        one.holds(lockOf(one, 1));
        two.holds(lockOf(two, 2));
        Call<Boolean> first = one.actor.start(() -> lockOf(one, 2).tryLock(1, TimeUnit.HOURS));
        awaitEdges(1);
        Call<Boolean> second = two.actor.start(() -> lockOf(two, 1).tryLock(1, TimeUnit.HOURS));
        return List.of(first, second);
    }

    @Test
    @Requires(Capability.SHARED)
    void aWriterWaitsForAllReaders() throws Exception {
        Party reader = party("reader", DeadlockPolicy.FAIL);
        Party other = party("other reader", DeadlockPolicy.FAIL);
        Party writer = party("writer", DeadlockPolicy.FAIL);
        DistributedLock read = reader.client.readWriteLock("catalog").readLock();
        DistributedLock otherRead = other.client.readWriteLock("catalog").readLock();
        reader.holds(read);
        other.holds(otherRead);
        writer.holds(lockOf(writer, 1));
        Call<Boolean> writes =
                writer.wants(writer.client.readWriteLock("catalog").writeLock());
        awaitEdges(1);
        Call<Boolean> reads = reader.wants(lockOf(reader, 1));
        assertThatThrownBy(reads::get).isInstanceOfSatisfying(DeadlockException.class, failure -> {
            assertThat(failure.cycle().orElseThrow().edges())
                    .extracting(edge -> edge.holder().holder().client())
                    .containsExactlyInAnyOrder("reader", "writer");
            assertThat(failure.cycle().orElseThrow().edges())
                    .extracting(edge -> edge.holder().mode())
                    .containsExactlyInAnyOrder(LockMode.SHARED, LockMode.EXCLUSIVE);
        });
        reader.releases(read);
        other.releases(otherRead);
        assertThat(writes.get()).isTrue();
        writer.releases(lockOf(writer, 1));
        assertThat(other.deadlocks()).as("it only works").isEmpty();
    }

    @Test
    void aChainIsShownAndIsNoDeadlock() throws Exception {
        List<Party> parties = parties(3, DeadlockPolicy.FAIL);
        for (int i = 0; i < 3; i++) {
            parties.get(i).holds(lockOf(parties.get(i), i));
        }
        Call<Boolean> second = parties.get(1).wants(lockOf(parties.get(1), 0));
        Call<Boolean> third = parties.get(2).wants(lockOf(parties.get(2), 1));
        awaitEdges(2);
        Bench.letPass(SOON.multipliedBy(3)); // several looks
        WaitGraph graph = bench().client("observer").waitGraph();
        assertThat(graph.cycles()).isEmpty();
        assertThat(graph.edges()).extracting(WaitGraph.Edge::lock).containsExactly("lock-1", "lock-2");
        assertThat(graph.edges()).extracting(edge -> edge.waitsFor().lock()).containsExactly("lock-0", "lock-1");
        assertThat(bench().client("observer").waitGraph("lock-2").edges())
                .as("with what it leads to")
                .extracting(WaitGraph.Edge::lock)
                .containsExactly("lock-1", "lock-2");

        parties.get(0).releases(lockOf(parties.get(0), 0));
        assertThat(second.get()).isTrue();
        awaitEdges(1);
        parties.get(1).releases(lockOf(parties.get(1), 1));
        assertThat(third.get()).isTrue();
        awaitEdges(0);
        parties.get(2).releases(lockOf(parties.get(2), 2));
        assertThat(parties).allMatch(party -> party.deadlocks().isEmpty());
    }

    @Test
    void aRecordGoesWhenTheWaitEndsWithoutTheLock() throws Exception {
        Party one = party("one", DeadlockPolicy.FAIL);
        Party two = party("two", DeadlockPolicy.FAIL);
        two.holds(lockOf(two, 2));
        one.holds(lockOf(one, 1));
        Call<Boolean> waits = one.wants(lockOf(one, 2));
        awaitEdges(1);
        one.actor.interrupt();
        assertThatThrownBy(waits::get).isInstanceOf(InterruptedException.class);
        awaitEdges(0);
        assertThat(bench().client("observer").inspect("lock-1").isFree()).isFalse();
        one.releases(lockOf(one, 1));
        two.releases(lockOf(two, 2));
    }

    /** On an engine and a machine that are not overloaded: most tries are in time. */
    private static final Duration PROMISED = Duration.ofSeconds(3);

    private static final int MOST_TRIES = 5;

    /** A test that keeps the machine busy with many processes runs alone. */
    private static final String PROCESSES = "dev.lockstep.tck.processes";

    private interface Measured {
        Duration take() throws Exception;
    }

    /** Tries until more of the tries are in time than late, which the first one may decide; returns the time of each. */
    private static List<String> mostlyTakesAtMost(Duration most, Measured measured) throws Exception {
        List<String> tries = new ArrayList<>();
        int lead = 0;
        while (lead <= 0 && tries.size() < MOST_TRIES) {
            Duration took = measured.take();
            tries.add(String.format("%.2f s", took.toMillis() / 1e3));
            lead += took.compareTo(most) < 0 ? 1 : -1;
        }
        assertThat(lead).as("more in time than late of " + tries).isPositive();
        return tries;
    }

    @Test
    @Tag("full")
    @ResourceLock(PROCESSES)
    void aCallThatHasWaitedForLongFailsSoonAfterTheRingIsClosed() throws Exception {
        Party one = party("one", DeadlockPolicy.FAIL, Duration.ofSeconds(1));
        Party two = party("two", DeadlockPolicy.FAIL, Duration.ofSeconds(1));
        List<String> took = mostlyTakesAtMost(PROMISED, () -> {
            one.holds(lockOf(one, 1));
            two.holds(lockOf(two, 2));
            Call<Boolean> older = one.wants(lockOf(one, 2));
            awaitEdges(1);
            Bench.letPass(Duration.ofSeconds(10));
            long closed = System.nanoTime();
            Call<Boolean> timed = two.actor.start(() -> lockOf(two, 1).tryLock(1, TimeUnit.HOURS));
            assertThatThrownBy(older::get).isInstanceOf(DeadlockException.class);
            Duration failed = Duration.ofNanos(System.nanoTime() - closed);
            one.releases(lockOf(one, 1));
            assertThat(timed.get()).isTrue();
            two.actor.does(lockOf(two, 1)::unlock);
            two.releases(lockOf(two, 2));
            awaitEdges(0);
            return failed;
        });
        System.out.printf(
                "deadlock after a long wait, %s: %s%n", one.client.describe().product(), String.join(", ", took));
    }

    @ParameterizedTest
    @Tag("full")
    @Requires(Capability.SECOND_PROCESS)
    @ResourceLock(PROCESSES)
    @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8})
    void aDeadlockOfProcessesEndsWithinThreeSeconds(int count) throws Exception {
        List<String> took = mostlyTakesAtMost(PROMISED, () -> ProcessRing.deadlock(bench(), count, this::awaitEdges));
        System.out.printf(
                "deadlock of %d processes, %s: %s%n",
                count, bench().client("observer").describe().product(), String.join(", ", took));
    }

    @Test
    void nothingIsRecordedIfThatIsOff() throws Exception {
        List<Party> parties = List.of(party("off", DeadlockPolicy.OFF), party("on", DeadlockPolicy.REPORT));
        parties.get(0).holds(lockOf(parties.get(0), 0));
        parties.get(1).holds(lockOf(parties.get(1), 1));
        Call<Boolean> off = parties.get(0).wants(lockOf(parties.get(0), 1));
        Call<Boolean> on = parties.get(1).wants(lockOf(parties.get(1), 0));
        awaitEdges(1);
        Bench.letPass(SOON.multipliedBy(3));
        assertThat(bench().client("observer").waitGraph().edges())
                .extracting(WaitGraph.Edge::lock)
                .containsExactly("lock-1");
        parties.get(0).actor.interrupt();
        assertThatThrownBy(off::get).isInstanceOf(InterruptedException.class);
        parties.get(0).releases(lockOf(parties.get(0), 0));
        assertThat(on.get()).isTrue();
        parties.get(1).releases(lockOf(parties.get(1), 1));
    }
}
