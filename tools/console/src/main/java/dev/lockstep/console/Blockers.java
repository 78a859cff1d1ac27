package dev.lockstep.console;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.console.Located.Key;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/*
 * Overview. The locks of one listing are the nodes of a graph. An edge leads from lock A to lock B if a holder of A waits for B:
 *
 *     cart:7  ──holder api-2 waits for──▶  order:42  ──holder api-7 waits for──▶  stock:9      (its holder waits for nothing)
 *
 * Each contended lock is followed along the edges to where they end: at a lock whose holders wait for nothing, which is the root of
 * all those waits, or in a cycle, which is a deadlock. All locks that lead to the same end are one blocker.
 *
 * An edge stands only if it blocks: a shared waiter is not blocked by a shared holder; and the holders of a semaphore block only if
 * all of them wait, since any of them may release a permit. An edge is certain if the same client is seen to wait for B, too;
 * otherwise the record may be outdated.
 */
/** What blocks what, computed from one listing of locks. Immutable. */
final class Blockers {
    private Blockers() {}

    /**
     * That a holder of one lock waits for another one.
     *
     * @param from the lock that is held
     * @param holder the entry of its holder
     * @param waitsFor what it waits for
     * @param to the lock that it waits for
     * @param certain whether the holder's client is seen among the waiters, too
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
        locks.forEach(lock -> all.put(lock.key(), lock));
        Map<Key, List<Edge>> edges = new LinkedHashMap<>();
        for (Located lock : locks) {
            List<Edge> out = edges(lock, all);
            if (!out.isEmpty()) {
                edges.put(lock.key(), out);
            }
        }
        Map<Key, List<Edge>> cycles = cycles(edges);
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

    private static List<Edge> edges(Located lock, Map<Key, Located> all) {
        List<Edge> found = new ArrayList<>();
        for (LockInfo.Entry holder : lock.info().holders()) {
            if (holder.waitsFor().isEmpty()) {
                continue;
            }
            LockInfo.Wait wait = holder.waitsFor().get();
            Located target = all.get(new Key(lock.namespace(), wait.lock()));
            if (target != null && blocks(target.info(), wait.mode())) {
                boolean certain = target.info().waiters().stream().anyMatch(waiter -> sameClient(waiter, holder));
                found.add(new Edge(lock.key(), holder, wait, target.key(), certain));
            }
        }
        boolean mayRelease = lock.info().limit().isPresent()
                && found.size() < lock.info().holders().size();
        return mayRelease ? List.of() : found;
    }

    private static boolean blocks(LockInfo lock, LockMode wanted) {
        return lock.holders().stream()
                .anyMatch(holder -> wanted == LockMode.EXCLUSIVE
                        || holder.mode() == LockMode.EXCLUSIVE
                        || lock.limit().isPresent());
    }

    /** What a claim is named by begins with its client's id and a dot. */
    private static boolean sameClient(LockInfo.Entry one, LockInfo.Entry other) {
        if (one.claim().isPresent() && other.claim().isPresent()) {
            return clientId(one.claim().get()).equals(clientId(other.claim().get()));
        }
        return one.holder().client().equals(other.holder().client())
                && one.holder().host().equals(other.holder().host())
                && one.holder().pid() == other.holder().pid();
    }

    private static String clientId(String claim) {
        int dot = claim.indexOf('.');
        return dot < 0 ? claim : claim.substring(0, dot);
    }

    /** For each lock in a cycle, the edges of that cycle. A walk from each lock that follows the first edge not seen before. */
    private static Map<Key, List<Edge>> cycles(Map<Key, List<Edge>> edges) {
        Map<Key, List<Edge>> found = new HashMap<>();
        Set<Key> done = new LinkedHashSet<>();
        for (Key start : edges.keySet()) {
            walk(start, edges, done, found);
        }
        return found;
    }

    /** A depth-first search without recursion, since a chain may be long. */
    private static void walk(Key start, Map<Key, List<Edge>> edges, Set<Key> done, Map<Key, List<Edge>> found) {
        if (done.contains(start)) {
            return;
        }
        List<Edge> path = new ArrayList<>();
        Map<Key, Integer> depth = new HashMap<>();
        Deque<Deque<Edge>> open = new ArrayDeque<>();
        depth.put(start, 0);
        open.push(new ArrayDeque<>(edges.getOrDefault(start, List.of())));
        Deque<Key> nodes = new ArrayDeque<>(List.of(start));
        while (!open.isEmpty()) {
            Edge next = open.element().poll();
            if (next == null) {
                open.pop();
                Key left = nodes.pop();
                depth.remove(left);
                done.add(left);
                if (!path.isEmpty()) {
                    path.remove(path.size() - 1);
                }
            } else if (depth.containsKey(next.to())) {
                List<Edge> cycle = new ArrayList<>(path.subList(depth.get(next.to()), path.size()));
                cycle.add(next);
                cycle.forEach(edge -> found.putIfAbsent(edge.from(), cycle));
            } else if (!done.contains(next.to())) {
                depth.put(next.to(), depth.size());
                path.add(next);
                nodes.push(next.to());
                open.push(new ArrayDeque<>(edges.getOrDefault(next.to(), List.of())));
            }
        }
    }

    /** Where the waits of a lock end: a lock without edges, or the first lock of a cycle. */
    private static Key end(Key from, Map<Key, List<Edge>> edges, Map<Key, List<Edge>> cycles) {
        Set<Key> seen = new LinkedHashSet<>();
        Deque<Key> open = new ArrayDeque<>(List.of(from));
        Key last = from;
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
        return last;
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
