package dev.lockstep;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which holders of locks wait for other locks, and the cycles among them: deadlocks. It is made from the engine's data;
 * see {@link LockAdmin#waitGraph(String)}.
 *
 * <p>A thread that holds a lock and waits for another one records that in the engine after some time ({@link
 * LockClient.Builder#recordWaitsAfter}). So shorter waits are not in the graph. It also lacks what the engine cannot
 * know: holds and calls without a thread, locks of other engines, and permits of semaphores. The locks are read one
 * after the other, so a cycle that is seen once may never have existed as a whole. One that is seen twice with the same
 * claims, tokens and waits is a deadlock.
 *
 * <p>Immutable. Later versions may add to it.
 */
public final class WaitGraph {
    private final List<LockInfo> locks;
    private final List<Edge> edges;
    private final List<Cycle> cycles;

    private WaitGraph(List<LockInfo> locks, List<Edge> edges, List<Cycle> cycles) {
        this.locks = List.copyOf(locks);
        this.edges = List.copyOf(edges);
        this.cycles = List.copyOf(cycles);
    }

    /**
     * Makes the graph of some locks.
     *
     * @param locks what the engine knows of them; of two with one name the second counts
     * @return the graph
     */
    public static WaitGraph of(Collection<LockInfo> locks) {
        Map<String, LockInfo> byName = new TreeMap<>();
        locks.forEach(lock -> byName.put(lock.name(), lock));
        List<Edge> edges = new ArrayList<>();
        for (LockInfo lock : byName.values()) {
            for (LockInfo.Entry holder : lock.holders()) {
                holder.waitsFor().ifPresent(wait -> edges.add(Edge.of(lock.name(), holder, wait, byName)));
            }
        }
        edges.sort(Comparator.comparing(Edge::lock).thenComparing(Edge::id));
        return new WaitGraph(List.copyOf(byName.values()), edges, WaitCycles.in(edges, byName));
    }

    /**
     * Shows the locks, with their holders and waiters.
     *
     * @return the locks, by name
     */
    public List<LockInfo> locks() {
        return locks;
    }

    /**
     * Shows which holders wait.
     *
     * @return an edge for each holder that waits for another lock, by the lock that it holds
     */
    public List<Edge> edges() {
        return edges;
    }

    /**
     * Shows the cycles. A call that wants a lock for itself waits for all its holders, so one holder that waits for the call in
     * turn is enough. A reader waits for a writer that holds the lock, and, if a writer is in the queue, for the
     * readers that this writer waits for.
     *
     * @return the shortest cycle through each edge that is part of any, each cycle once
     */
    public List<Cycle> cycles() {
        return cycles;
    }

    /**
     * Finds the cycles that are also in an earlier reading, with the same claims, tokens and waits: these are
     * deadlocks.
     *
     * @param earlier the graph as it was a moment before, such as a second
     * @return the cycles of this graph that are in both
     */
    public List<Cycle> deadlocks(WaitGraph earlier) {
        return cycles.stream()
                .filter(cycle -> earlier.cycles.stream().anyMatch(cycle::isSameAs))
                .toList();
    }

    @Override
    public String toString() {
        return "WaitGraph[edges=" + edges + ", cycles=" + cycles + "]";
    }

    /** A holder of one lock that waits for another one. Immutable. */
    public static final class Edge {
        private final String lock;
        private final LockInfo.Entry holder;
        private final LockInfo.Wait wait;
        private final boolean certain;

        private Edge(String lock, LockInfo.Entry holder, LockInfo.Wait wait, boolean certain) {
            this.lock = lock;
            this.holder = holder;
            this.wait = wait;
            this.certain = certain;
        }

        static Edge of(String lock, LockInfo.Entry holder, LockInfo.Wait wait, Map<String, LockInfo> locks) {
            LockInfo target = locks.get(wait.lock());
            boolean certain = target != null
                    && (target.waiters().stream().anyMatch(entry -> isOfSameClient(entry, holder))
                            || target.holders().stream().anyMatch(entry -> isOfSameClient(entry, holder)));
            return new Edge(lock, holder, wait, certain);
        }

        private static boolean isOfSameClient(LockInfo.Entry one, LockInfo.Entry other) {
            Optional<String> first = one.claim().map(Edge::client);
            Optional<String> second = other.claim().map(Edge::client);
            if (first.isPresent() && second.isPresent()) {
                return first.equals(second);
            }
            HolderInfo a = one.holder();
            HolderInfo b = other.holder();
            return a.client().equals(b.client()) && a.host().equals(b.host()) && a.pid() == b.pid();
        }

        private static String client(String claim) {
            int dot = claim.indexOf('.');
            return dot < 0 ? claim : claim.substring(0, dot);
        }

        /**
         * Names the lock that is held.
         *
         * @return the lock's name
         */
        public String lock() {
            return lock;
        }

        /**
         * Shows who holds it.
         *
         * @return the holder, with its claim and its token
         */
        public LockInfo.Entry holder() {
            return holder;
        }

        /**
         * Shows what the holder waits for, with the thread that does so and since when.
         *
         * @return the wait
         */
        public LockInfo.Wait waitsFor() {
            return wait;
        }

        /**
         * Says whether the engine confirms the record of the wait: it knows a claim of the same client for the other lock. If
         * not, the record may be outdated, because the client could not remove it; or the engine does not show who waits.
         *
         * @return false if the record may be outdated
         */
        public boolean isCertain() {
            return certain;
        }

        /** The id of the grant. */
        String id() {
            return holder.claim().orElseGet(() -> holder.holder() + " " + holder.token());
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Edge that
                    && lock.equals(that.lock)
                    && holder.equals(that.holder)
                    && wait.equals(that.wait)
                    && certain == that.certain;
        }

        @Override
        public int hashCode() {
            return Objects.hash(lock, holder, wait, certain);
        }

        /** A sentence without its end. */
        @Override
        public String toString() {
            HolderInfo who = holder.holder();
            return "client '" + who.client() + "' (host " + who.host() + ", pid " + who.pid() + ", thread '"
                    + wait.thread()
                    + "') holds '" + lock + "' and waits for '" + wait.lock() + "' since " + wait.since()
                    + (wait.mode() == LockMode.SHARED ? " to read" : "")
                    + (wait.isBounded() ? ", for a limited time" : "")
                    + (certain ? "" : " (this may be outdated)");
        }
    }

    /** Holders that wait for each other. Immutable. */
    public static final class Cycle {
        /**
         * The call that should give up: one without a deadline, which would wait indefinitely; of several, the one that
         * has waited least.
         */
        private static final Comparator<Edge> BY_AGE = Comparator.comparing((Edge edge) -> !edge.wait.isBounded())
                .thenComparing(edge -> edge.wait.since())
                .thenComparing(Edge::id);

        private final List<Edge> edges;

        Cycle(List<Edge> edges) {
            this.edges = List.copyOf(edges);
        }

        /**
         * Shows the edges of the cycle.
         *
         * @return the edges; each waits for the lock that the next one holds, and the last for that of the first
         */
        public List<Edge> edges() {
            return edges;
        }

        /**
         * Says whether all edges are certain.
         *
         * @return false if a record may be outdated
         */
        public boolean isCertain() {
            return edges.stream().allMatch(Edge::isCertain);
        }

        /**
         * Chooses the call that fails with {@link DeadlockPolicy#FAIL}: every client that computes it chooses the same
         * one.
         *
         * @return of the calls without a deadline the one that began to wait last, by the clocks of the clients; the one with
         *     the greatest claim of several; among calls with deadlines only if there are no others
         */
        public Edge victim() {
            return edges.stream().max(BY_AGE).orElseThrow();
        }

        /**
         * Says whether two readings have shown the same cycle: the same claims, tokens and waits.
         *
         * @param other the cycle of another reading
         * @return true if nothing has changed between the readings
         */
        public boolean isSameAs(Cycle other) {
            return identity().equals(other.identity());
        }

        private List<List<Object>> identity() {
            return edges.stream()
                    .map(edge -> List.<Object>of(edge.lock, edge.id(), edge.holder.token(), edge.wait))
                    .toList();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Cycle that && edges.equals(that.edges);
        }

        @Override
        public int hashCode() {
            return edges.hashCode();
        }

        /** The edges as sentences. */
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            for (Edge edge : edges) {
                text.append(text.length() == 0 ? "" : "; ").append(edge);
            }
            return text.toString();
        }
    }
}
