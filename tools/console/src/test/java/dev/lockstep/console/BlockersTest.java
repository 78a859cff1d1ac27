package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.WaitGraph;
import dev.lockstep.console.Blockers.Blocker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The blockers of a listing. */
class BlockersTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

    private static final AtomicInteger SERIAL = new AtomicInteger();

    static LockInfo.Entry entry(String client, int seconds) {
        return LockInfo.Entry.of(
                        LockMode.EXCLUSIVE,
                        HolderInfo.of(client, "host", 1)
                                .withThread("thread-" + client)
                                .withSince(NOW.minusSeconds(seconds)))
                .withClaim(client + "." + SERIAL.incrementAndGet() + ".1")
                .withToken(1024);
    }

    static LockInfo.Entry shared(String client) {
        return LockInfo.Entry.of(
                        LockMode.SHARED,
                        HolderInfo.of(client, "host", 1).withThread("t").withSince(NOW))
                .withClaim(client + ".1");
    }

    static LockInfo.Entry waiting(LockInfo.Entry holder, String lock) {
        return waiting(holder, lock, LockMode.EXCLUSIVE);
    }

    static LockInfo.Entry waiting(LockInfo.Entry holder, String lock, LockMode mode) {
        return holder.withWait(LockInfo.Wait.of(lock, mode, holder.holder().thread(), NOW.minusSeconds(5), false));
    }

    static Located lock(String name, List<LockInfo.Entry> holders, LockInfo.Entry... waiters) {
        return new Located("ns", LockInfo.of(name, holders, Arrays.asList(waiters)));
    }

    private static List<String> names(Blocker blocker) {
        return blocker.locks().stream().map(lock -> lock.info().name()).toList();
    }

    @Test
    void uncontendedLocksBlockNoCall() {
        assertThat(Blockers.of(List.of(lock("a", List.of(entry("c1", 100)))), NOW))
                .isEmpty();
    }

    @Test
    void blockersAreSortedByWaitersTimesLongestWait() {
        List<Blocker> found = Blockers.of(
                List.of(
                        lock("few", List.of(entry("c1", 9)), entry("c2", 8)),
                        lock("many", List.of(entry("c1", 9)), entry("c2", 5), entry("c3", 4)),
                        lock("long", List.of(entry("c1", 999)), entry("c2", 900))),
                NOW);
        assertThat(found).extracting(each -> each.root().info().name()).containsExactly("long", "many", "few");
        assertThat(found.get(1).waiters()).isEqualTo(2);
        assertThat(found.get(1).longest()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void aChainIsOneBlockerWhoseRootIsItsEnd() {
        List<Blocker> found = Blockers.of(
                List.of(
                        lock("cart", List.of(waiting(entry("c1", 9), "order")), entry("c9", 1)),
                        lock("order", List.of(waiting(entry("c2", 9), "stock")), entry("c1", 5), entry("c8", 2)),
                        lock("stock", List.of(entry("c3", 9)), entry("c2", 5))),
                NOW);
        assertThat(found).hasSize(1);
        Blocker blocker = found.get(0);
        assertThat(blocker.isCycle()).isFalse();
        assertThat(names(blocker)).first().isEqualTo("stock");
        assertThat(names(blocker)).containsExactlyInAnyOrder("stock", "order", "cart");
        assertThat(blocker.waiters()).isEqualTo(4);
        assertThat(blocker.edges()).hasSize(2).allMatch(Blockers.Edge::certain);
    }

    @Test
    void anEdgeIsUncertainIfTheClientIsNotSeenToWait() {
        List<Blocker> found = Blockers.of(
                List.of(
                        lock("a", List.of(waiting(entry("c1", 9), "b")), entry("c4", 1)),
                        lock("b", List.of(entry("c2", 9)), entry("c3", 2))),
                NOW);
        assertThat(found.get(0).edges()).singleElement().matches(edge -> !edge.certain());
    }

    @Test
    void aCycleComesFirstWithThoseThatWaitForIt() {
        List<Blocker> found = Blockers.of(
                List.of(
                        lock("busy", List.of(entry("c7", 9999)), entry("c8", 9999)),
                        lock("a", List.of(waiting(entry("c1", 9), "b")), entry("c2", 5)),
                        lock("b", List.of(waiting(entry("c2", 9), "a")), entry("c1", 5)),
                        lock("behind", List.of(waiting(entry("c3", 9), "a")), entry("c4", 5))),
                NOW);
        assertThat(found).hasSize(2);
        Blocker deadlock = found.get(0);
        assertThat(deadlock.cycle()).hasSize(2);
        assertThat(names(deadlock)).containsExactlyInAnyOrder("a", "b", "behind");
        assertThat(deadlock.waiters()).isEqualTo(3);
        assertThat(found.get(1).isCycle()).isFalse();
    }

    @Test
    void theSameCycleHasTheSameSignatureInAnyOrder() {
        Located a = lock("a", List.of(waiting(entry("c1", 9), "b")), entry("c2", 5));
        Located b = lock("b", List.of(waiting(entry("c2", 9), "a")), entry("c1", 5));
        Located other = lock("b", List.of(waiting(b.info().holders().get(0).withToken(2048), "a")), entry("c1", 5));
        String signature = Blockers.of(List.of(a, b), NOW).get(0).signature();
        assertThat(Blockers.of(List.of(b, a), NOW).get(0).signature()).isEqualTo(signature);
        assertThat(Blockers.of(List.of(a, other), NOW).get(0).signature()).isNotEqualTo(signature);
    }

    @Test
    void aLongCycleIsFound() {
        List<Located> ring = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            int next = (i + 1) % 5_000;
            ring.add(lock(
                    "l" + i, List.of(waiting(entry("c" + i, 9), "l" + next)), entry("c" + (i + 4_999) % 5_000, 5)));
        }
        assertThat(Blockers.of(ring, NOW))
                .singleElement()
                .matches(blocker -> blocker.cycle().size() == 5_000);
    }

    @Test
    void aHolderThatWaitsForItsOwnLockIsACycle() {
        assertThat(Blockers.of(List.of(lock("a", List.of(waiting(entry("c1", 9), "a")), entry("c1", 5))), NOW))
                .singleElement()
                .matches(Blocker::isCycle);
    }

    @Test
    void readersBlockReadersOnlyIfAWriterWaitsBetweenThem() {
        LockInfo.Entry one = waiting(shared("c1"), "b", LockMode.SHARED);
        LockInfo.Entry two = waiting(shared("c2"), "a", LockMode.SHARED);
        List<Located> readers = List.of(lock("a", List.of(one), shared("c2")), lock("b", List.of(two), shared("c1")));
        assertThat(Blockers.of(readers, NOW))
                .hasSize(2)
                .noneMatch(Blocker::isCycle)
                .allMatch(each -> each.edges().isEmpty());
        List<Located> behindWriters = List.of(
                lock("a", List.of(one), entry("c9", 1), shared("c2")),
                lock("b", List.of(two), entry("c8", 1), shared("c1")));
        assertThat(Blockers.of(behindWriters, NOW))
                .singleElement()
                .matches(each -> each.cycle().size() == 2);
    }

    @Test
    void theCyclesAreThoseOfTheCore() {
        LockInfo.Entry one = waiting(shared("c1"), "b");
        LockInfo.Entry two = waiting(shared("c2"), "c");
        List<Located> locks = List.of(
                lock("a", List.of(one, two), entry("c3", 1)),
                lock("b", List.of(waiting(entry("c3", 9), "a")), entry("c1", 1)),
                lock("c", List.of(waiting(entry("c4", 9), "a")), entry("c2", 1)));
        List<Set<String>> known = WaitGraph.of(locks.stream().map(Located::info).toList()).cycles().stream()
                .map(cycle -> cycle.edges().stream().map(WaitGraph.Edge::lock).collect(Collectors.toSet()))
                .toList();
        assertThat(known).hasSize(2);
        assertThat(Blockers.of(locks, NOW)).singleElement().satisfies(blocker -> {
            assertThat(known)
                    .contains(blocker.cycle().stream()
                            .map(edge -> edge.from().name())
                            .collect(Collectors.toSet()));
            assertThat(names(blocker)).containsExactlyInAnyOrder("a", "b", "c");
        });
    }

    @Test
    void aSemaphoreIsInNoCycleAndItsHoldersBlockOnlyIfAllOfThemWait() {
        LockInfo.Entry stuck = waiting(shared("c1"), "b");
        Located b = lock("b", List.of(waiting(entry("c2", 9), "pool")), entry("c1", 5));
        Located oneWaits = new Located(
                "ns",
                LockInfo.of("pool", List.of(stuck, shared("c3")), List.of(shared("c2")))
                        .withLimit(2));
        Located allWait = new Located(
                "ns",
                LockInfo.of("pool", List.of(stuck, waiting(shared("c3"), "b")), List.of(shared("c2")))
                        .withLimit(2));
        assertThat(Blockers.of(List.of(b, oneWaits), NOW))
                .singleElement()
                .matches(each -> !each.isCycle() && each.root().info().name().equals("pool"));
        assertThat(Blockers.of(List.of(b, allWait), NOW))
                .noneMatch(Blocker::isCycle)
                .anyMatch(each -> each.edges().size() > 1);
    }

    @Test
    void aRecordedWaitForALockThatIsFreeOrInAnotherNamespaceIsNoEdge() {
        LockInfo.Entry holder = waiting(entry("c1", 9), "b");
        Located a = lock("a", List.of(holder), entry("c4", 1));
        Located free = new Located("ns", LockInfo.of("b", List.of(), List.of(entry("c1", 1))));
        Located elsewhere = new Located("other", LockInfo.of("b", List.of(entry("c2", 1)), List.of(entry("c1", 1))));
        assertThat(Blockers.of(List.of(a, free), NOW))
                .allMatch(each -> each.edges().isEmpty());
        assertThat(Blockers.of(List.of(a, elsewhere), NOW))
                .allMatch(each -> each.edges().isEmpty());
    }
}
