package dev.lockstep.console;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.WaitGraph;
import dev.lockstep.console.Located.Key;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * Overview. The locks of one listing are the nodes of a graph. An edge leads from lock A to lock B if a holder of A waits for B:
 *
 *     cart:7  ──holder api-2 waits for──▶  order:42  ──holder api-7 waits for──▶  stock:9      (its holder waits for nothing)
 *
 * Each contended lock is followed along the edges to where they end: at a lock whose holders wait for nothing, which is the root of
 * all those waits, or in a cycle, which is a deadlock. All locks that lead to the same end are one blocker.
 *
 * The core finds the edges and cycles (WaitGraph), so the console, the command and the clients agree on what is a
 * deadlock. Here an edge counts only if it blocks: a shared waiter is not blocked by a shared holder, unless a writer
 * waits between them; and the holders of a semaphore block only if all of them wait, since any of them may release a
 * permit. Semaphores are in no cycle.
 */
/** The blockers, computed from one listing of locks. Immutable. */
final class Blockers {
    private Blockers() {}

    /**
     * That a holder of one lock waits for another one.
     *
     * @param from the lock that is held
     * @param holder the entry of its holder
     * @param waitsFor what it waits for
     * @param to the lock that it waits for
     * @param certain whether the engine knows a claim of the holder's client for the other lock, too
     */
    record Edge(Key from, LockInfo.Entry holder, LockInfo.Wait waitsFor, Key to, boolean certain) {}

    /**
     * Some waiters, and what they wait for in the end.
     *
     * @param cycle the edges of the deadlock, in order; empty if there is none
     * @param locks the locks, that at which the waits end first
     * @param edges all edges between them
     * @param waiters how many entries wait
     * @param longest the longest wait
     */
    record Blocker(List<Edge> cycle, List<Located> locks, List<Edge> edges, int waiters, Duration longest) {
        Located root() {
            return locks.get(0);
        }

        boolean isCycle() {
            return !cycle.isEmpty();
        }

        /** Waiters times the longest wait, in seconds. */
        double weight() {
            return waiters * Math.max(longest.toMillis() / 1e3, 0.001);
        }

        /** The same text for the same cycle of the same claims, in any listing. */
        String signature() {
            return cycle.stream()
                    .map(edge -> edge.from() + "|" + edge.holder().claim().orElse("") + "|"
                            + edge.holder().token() + "|" + edge.waitsFor().lock() + "|"
                            + edge.waitsFor().since())
                    .sorted()
                    .toList()
                    .toString();
        }
    }

    /** The blockers of a listing: cycles first, then by weight. */
    static List<Blocker> of(Collection<Located> locks, Instant now) {
        Map<Key, Located> all = new HashMap<>();
        Map<String, List<LockInfo>> byNamespace = new LinkedHashMap<>();
        for (Located lock : locks) {
            all.put(lock.key(), lock);
            byNamespace
                    .computeIfAbsent(lock.namespace(), unused -> new ArrayList<>())
                    .add(lock.info());
        }
        Map<Key, List<Edge>> edges = new LinkedHashMap<>();
        Map<Key, List<Edge>> cycles = new HashMap<>();
        byNamespace.forEach((namespace, infos) -> {
            WaitGraph graph = WaitGraph.of(infos);
            addEdges(namespace, graph, all, edges);
            addCycles(namespace, graph, cycles);
        });
        Map<Key, Set<Key>> members = new LinkedHashMap<>();
        for (Located lock : locks) {
            if (!lock.info().waiters().isEmpty() || edges.containsKey(lock.key())) {
                Key end = end(lock.key(), edges, cycles);
                members.computeIfAbsent(end, unused -> new LinkedHashSet<>()).add(lock.key());
            }
        }
        List<Blocker> blockers = new ArrayList<>();
        members.forEach((end, keys) -> {
            Blocker blocker = blocker(end, keys, all, edges, cycles, now);
            if (blocker.waiters() > 0) {
                blockers.add(blocker);
            }
        });
        blockers.sort(Comparator.comparing(Blocker::isCycle)
                .thenComparingDouble(Blocker::weight)
                .reversed()
                .thenComparing(blocker -> blocker.root().info().name()));
        return blockers;
    }

    private static Edge edge(String namespace, WaitGraph.Edge edge) {
        return new Edge(
                new Key(namespace, edge.lock()),
                edge.holder(),
                edge.waitsFor(),
                new Key(namespace, edge.waitsFor().lock()),
                edge.isCertain());
    }

    private static void addEdges(String namespace, WaitGraph graph, Map<Key, Located> all, Map<Key, List<Edge>> edges) {
        for (WaitGraph.Edge each : graph.edges()) {
            Edge edge = edge(namespace, each);
            Located target = all.get(edge.to());
            if (target != null && blocks(target.info(), each.waitsFor().mode())) {
                edges.computeIfAbsent(edge.from(), unused -> new ArrayList<>()).add(edge);
            }
        }
        for (LockInfo lock : graph.locks()) {
            Key key = new Key(namespace, lock.name());
            if (lock.limit().isPresent()
                    && edges.getOrDefault(key, List.of()).size()
                            < lock.holders().size()) {
                edges.remove(key); // one of the others may release a permit
            }
        }
    }

    /** For each lock in a cycle, the edges of that cycle. Of cycles that meet, only the first one counts. */
    private static void addCycles(String namespace, WaitGraph graph, Map<Key, List<Edge>> cycles) {
        for (WaitGraph.Cycle each : graph.cycles()) {
            List<Edge> cycle =
                    each.edges().stream().map(edge -> edge(namespace, edge)).toList();
            if (cycle.stream().noneMatch(edge -> cycles.containsKey(edge.from()))) {
                cycle.forEach(edge -> cycles.put(edge.from(), cycle));
            }
        }
    }

    private static boolean blocks(LockInfo lock, LockMode wanted) {
        boolean behindWriter = lock.waiters().stream().anyMatch(waiter -> waiter.mode() == LockMode.EXCLUSIVE);
        return lock.holders().stream()
                .anyMatch(holder -> wanted == LockMode.EXCLUSIVE
                        || holder.mode() == LockMode.EXCLUSIVE
                        || behindWriter
                        || lock.limit().isPresent());
    }

    /** Where the waits of a lock end: a lock without edges, the first lock of a cycle, or one of a ring through a semaphore. */
    private static Key end(Key from, Map<Key, List<Edge>> edges, Map<Key, List<Edge>> cycles) {
        Set<Key> seen = new LinkedHashSet<>();
        Deque<Key> open = new ArrayDeque<>(List.of(from));
        @Nullable Key last = null;
        while (!open.isEmpty()) {
            Key key = open.pop();
            if (!seen.add(key)) {
                continue;
            }
            if (cycles.containsKey(key)) {
                return cycles.get(key).get(0).from();
            }
            List<Edge> out = edges.getOrDefault(key, List.of());
            if (out.isEmpty()) {
                last = key;
            }
            out.forEach(edge -> open.push(edge.to()));
        }
        return last != null ? last : Collections.min(seen, Comparator.comparing(Key::name));
    }

    private static Blocker blocker(
            Key end,
            Set<Key> keys,
            Map<Key, Located> all,
            Map<Key, List<Edge>> edges,
            Map<Key, List<Edge>> cycles,
            Instant now) {
        List<Edge> cycle = cycles.getOrDefault(end, List.of());
        Set<Key> ordered = new LinkedHashSet<>();
        ordered.add(end);
        cycle.forEach(edge -> ordered.add(edge.from()));
        ordered.addAll(keys);
        List<Located> locks = new ArrayList<>();
        List<Edge> inner = new ArrayList<>();
        int waiters = 0;
        Duration longest = Duration.ZERO;
        for (Key key : ordered) {
            Located lock = all.get(key);
            if (lock == null) {
                continue;
            }
            locks.add(lock);
            edges.getOrDefault(key, List.of()).stream()
                    .filter(edge -> ordered.contains(edge.to()))
                    .forEach(inner::add);
            waiters += lock.info().waiters().size();
            for (LockInfo.Entry waiter : lock.info().waiters()) {
                Duration waited = Duration.between(waiter.holder().since(), now);
                longest = waited.compareTo(longest) > 0 ? waited : longest;
            }
        }
        return new Blocker(List.copyOf(cycle), List.copyOf(locks), List.copyOf(inner), waiters, longest);
    }
}
