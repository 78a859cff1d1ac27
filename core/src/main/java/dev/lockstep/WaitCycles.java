package dev.lockstep;

import dev.lockstep.WaitGraph.Cycle;
import dev.lockstep.WaitGraph.Edge;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Finds the cycles of a {@link WaitGraph}. For one thread. */
final class WaitCycles {
    private final List<Edge> edges;

    /** For each edge, the edges whose holders have to release their locks before its call can continue. */
    private final List<List<Integer>> next = new ArrayList<>();

    private WaitCycles(List<Edge> edges, Map<String, LockInfo> locks) {
        this.edges = edges;
        Map<String, List<Integer>> byLock = new HashMap<>();
        for (int i = 0; i < edges.size(); i++) {
            byLock.computeIfAbsent(edges.get(i).lock(), name -> new ArrayList<>())
                    .add(i);
        }
        for (Edge edge : edges) {
            LockInfo target = locks.get(edge.waitsFor().lock());
            List<Integer> blockers = new ArrayList<>();
            if (target != null) {
                for (int other : byLock.getOrDefault(target.name(), List.of())) {
                    if (blocks(edges.get(other).holder(), target, edge.waitsFor())) {
                        blockers.add(other);
                    }
                }
            }
            next.add(blockers);
        }
    }

    /** Whether a holder of a lock has to release it before a call can get it. */
    private static boolean blocks(LockInfo.Entry holder, LockInfo lock, LockInfo.Wait wait) {
        return lock.limit().isEmpty()
                && (wait.mode() == LockMode.EXCLUSIVE
                        || holder.mode() == LockMode.EXCLUSIVE
                        || lock.waiters().stream().anyMatch(waiter -> waiter.mode() == LockMode.EXCLUSIVE));
    }

    static List<Cycle> in(List<Edge> edges, Map<String, LockInfo> locks) {
        WaitCycles finder = new WaitCycles(edges, locks);
        finder.removeWhatLeadsNowhere();
        Map<List<String>, Cycle> found = new TreeMap<>(Comparator.comparing(List::toString));
        boolean[] done = new boolean[edges.size()];
        for (int i = 0; i < edges.size(); i++) {
            List<Integer> cycle = done[i] ? List.of() : finder.through(i);
            if (cycle.isEmpty()) {
                continue;
            }
            List<Edge> turned = finder.fromSmallest(cycle);
            found.put(turned.stream().map(Edge::id).toList(), new Cycle(turned));
            if (cycle.stream().allMatch(each -> finder.next.get(each).size() == 1)) {
                cycle.forEach(each -> done[each] = true); // no other cycle leads through these
            }
        }
        return List.copyOf(found.values());
    }

    /** Most chains end at a holder that works. */
    private void removeWhatLeadsNowhere() {
        List<List<Integer>> before = new ArrayList<>();
        next.forEach(ignored -> before.add(new ArrayList<>()));
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i < next.size(); i++) {
            for (int other : next.get(i)) {
                before.get(other).add(i);
            }
            if (next.get(i).isEmpty()) {
                ends.add(i);
            }
        }
        while (!ends.isEmpty()) {
            Integer end = ends.remove(ends.size() - 1);
            for (int other : before.get(end)) {
                next.get(other).remove(end);
                if (next.get(other).isEmpty()) {
                    ends.add(other);
                }
            }
        }
    }

    /** The shortest cycle through an edge, which is its first one; empty if there is none. */
    private List<Integer> through(int start) {
        Map<Integer, Integer> from = new HashMap<>();
        List<Integer> queue = new ArrayList<>(List.of(start));
        for (int head = 0; head < queue.size(); head++) {
            int current = queue.get(head);
            for (int other : next.get(current)) {
                if (other == start) {
                    return path(start, current, from);
                }
                if (from.putIfAbsent(other, current) == null) {
                    queue.add(other);
                }
            }
        }
        return List.of();
    }

    private static List<Integer> path(int start, int last, Map<Integer, Integer> from) {
        List<Integer> path = new ArrayList<>();
        for (int at = last; at != start; at = Objects.requireNonNull(from.get(at))) {
            path.add(at);
        }
        path.add(start);
        Collections.reverse(path);
        return path;
    }

    /** The same cycle, starting at the edge with the smallest id: every client that computes it gets the same list. */
    private List<Edge> fromSmallest(List<Integer> cycle) {
        List<Edge> path = new ArrayList<>(cycle.stream().map(edges::get).toList());
        Edge smallest = Collections.min(path, Comparator.comparing(Edge::id));
        Collections.rotate(path, -path.indexOf(smallest));
        return path;
    }
}
