package dev.lockstep;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Edges, cycles and victims, from what an engine may say. */
class WaitGraphTest {
    private static LockInfo.Entry entry(String claim, LockMode mode) {
        return LockInfo.Entry.of(mode, HolderInfo.of(claim, "host", 1).withThread("main"))
                .withClaim(claim)
                .withToken(1);
    }

    private static LockInfo.Entry holder(String claim, LockMode mode, String waitsFor, LockMode as, long since) {
        return entry(claim, mode)
                .withWait(LockInfo.Wait.of(waitsFor, as, "main #1", Instant.ofEpochMilli(since), false));
    }

    private static LockInfo.Entry writer(String claim, String waitsFor, long since) {
        return holder(claim, LockMode.EXCLUSIVE, waitsFor, LockMode.EXCLUSIVE, since);
    }

    private static LockInfo lock(String name, LockInfo.Entry... holders) {
        return LockInfo.of(name, List.of(holders), List.of());
    }

    private static List<List<String>> cycles(LockInfo... locks) {
        return WaitGraph.of(List.of(locks)).cycles().stream()
                .map(cycle -> cycle.edges().stream().map(WaitGraph.Edge::lock).toList())
                .toList();
    }

    @Test
    void aChainIsNoCycle() {
        assertThat(cycles(
                        lock("a", writer("1.1", "b", 1)),
                        lock("b", writer("2.1", "c", 1)),
                        lock("c", entry("3.1", LockMode.EXCLUSIVE))))
                .isEmpty();
    }

    @Test
    void aRingOfEightIsOneCycle() {
        List<LockInfo> ring = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ring.add(lock("lock-" + i, writer(i + ".1", "lock-" + (i + 1) % 8, i)));
        }
        WaitGraph graph = WaitGraph.of(ring);
        assertThat(graph.cycles()).hasSize(1);
        assertThat(graph.cycles().get(0).edges())
                .extracting(WaitGraph.Edge::lock)
                .containsExactlyElementsOf(Stream.iterate(0, i -> i + 1)
                        .limit(8)
                        .map(i -> "lock-" + i)
                        .toList());
        assertThat(graph.cycles().get(0).victim().lock()).isEqualTo("lock-7");
    }

    @Test
    void aWaitThatLeadsIntoACycleIsNotPartOfIt() {
        assertThat(cycles(
                        lock("a", writer("1.1", "b", 1)),
                        lock("b", writer("2.1", "a", 1)),
                        lock("c", writer("3.1", "a", 1))))
                .containsExactly(List.of("a", "b"));
    }

    @Test
    void aWriterWaitsForEachReader() {
        LockInfo.Entry waitingReader = holder("1.1", LockMode.SHARED, "b", LockMode.EXCLUSIVE, 1);
        assertThat(cycles(lock("a", entry("3.1", LockMode.SHARED), waitingReader), lock("b", writer("2.1", "a", 1))))
                .containsExactly(List.of("a", "b"));
    }

    @Test
    void readersDoNotWaitForReaders() {
        LockInfo.Entry one = holder("1.1", LockMode.SHARED, "b", LockMode.SHARED, 1);
        LockInfo.Entry two = holder("2.1", LockMode.SHARED, "a", LockMode.SHARED, 1);
        assertThat(cycles(lock("a", one), lock("b", two))).isEmpty();
    }

    @Test
    void readersWaitBehindAWriterInTheQueue() {
        LockInfo.Entry one = holder("1.1", LockMode.SHARED, "b", LockMode.EXCLUSIVE, 1);
        LockInfo.Entry two = holder("2.1", LockMode.EXCLUSIVE, "a", LockMode.SHARED, 1);
        LockInfo contended = LockInfo.of(
                "a", List.of(one), List.of(entry("3.1", LockMode.EXCLUSIVE), entry("2.2", LockMode.SHARED)));
        assertThat(cycles(contended, lock("b", two))).containsExactly(List.of("a", "b"));
    }

    @Test
    void nobodyWaitsForAllHoldersOfASemaphore() {
        assertThat(cycles(lock("a", writer("1.1", "b", 1)).withLimit(3), lock("b", writer("2.1", "a", 1))))
                .isEmpty();
    }

    @Test
    void aThreadMayHoldTwoLocksOfACycle() {
        assertThat(cycles(
                        lock("a", writer("1.1", "b", 5)),
                        lock("c", writer("1.2", "b", 5)),
                        lock("b", writer("2.1", "c", 6))))
                .containsExactly(List.of("c", "b"));
    }

    @Test
    void theVictimIsTheYoungestAndOfTwoThatWithTheGreaterClaim() {
        WaitGraph graph = WaitGraph.of(List.of(lock("a", writer("1.1", "b", 7)), lock("b", writer("2.1", "a", 7))));
        assertThat(graph.cycles().get(0).victim().lock()).isEqualTo("b");
    }

    @Test
    void aCallWithADeadlineIsOnlyTheVictimIfAllHaveOne() {
        LockInfo.Entry timed = entry("1.1", LockMode.EXCLUSIVE)
                .withWait(LockInfo.Wait.of("b", LockMode.EXCLUSIVE, "main #1", Instant.ofEpochMilli(9), true));
        WaitGraph graph = WaitGraph.of(List.of(lock("a", timed), lock("b", writer("2.1", "a", 7))));
        assertThat(graph.cycles().get(0).victim().lock()).isEqualTo("b");
    }

    @Test
    void anEdgeIsCertainIfTheEngineKnowsAClaimOfTheClient() {
        LockInfo.Entry one = writer("1.1", "b", 1);
        LockInfo.Entry two = writer("2.1", "a", 1);
        WaitGraph graph = WaitGraph.of(List.of(
                lock("a", one), LockInfo.of("b", List.of(two), List.of(entry("1.2", LockMode.EXCLUSIVE)))));
        assertThat(graph.edges()).extracting(WaitGraph.Edge::isCertain).containsExactly(true, false);
        assertThat(graph.cycles().get(0).isCertain()).isFalse();
    }

    @Test
    void aCycleWithAnotherTokenOrWaitIsAnother() {
        WaitGraph first = WaitGraph.of(List.of(lock("a", writer("1.1", "b", 7)), lock("b", writer("2.1", "a", 7))));
        WaitGraph later = WaitGraph.of(List.of(lock("a", writer("1.1", "b", 7)), lock("b", writer("2.1", "a", 8))));
        WaitGraph regained =
                WaitGraph.of(List.of(lock("a", writer("1.1", "b", 7).withToken(2)), lock("b", writer("2.1", "a", 7))));
        assertThat(first.deadlocks(first)).hasSize(1);
        assertThat(later.deadlocks(first)).isEmpty();
        assertThat(regained.deadlocks(first)).isEmpty();
    }
}
