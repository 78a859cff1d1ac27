package dev.lockstep.internal.waits;

import dev.lockstep.DeadlockException;
import dev.lockstep.DeadlockPolicy;
import dev.lockstep.LockInfo;
import dev.lockstep.WaitGraph;
import dev.lockstep.internal.events.EventRecords;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Tokens;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds deadlocks that include threads of this client. It looks only while one of them holds a lock and has
 * waited for another one for so long that the wait is recorded. Safe for use by many threads.
 */
public final class DeadlockWatch implements AutoCloseable {
    /*
     * Overview
     *
     * Each look reads the wait-for graph from the engine, starting at the locks that this client waits for. Locks are
     * read one after the other, so a cycle that is seen once is only a suspicion. One that the next look sees with the
     * same claims, tokens and waits has existed as a whole in the time between the two, and nothing inside it can end
     * it: it is a deadlock.
     *
     * The client that closes a cycle is the last to record its wait, and reads after that: so a new wait is followed by
     * looks in quick succession, which become rarer if they find nothing. They never become so rare that an older call,
     * which may be the one to fail, sees the cycle much later than the one that closed it.
     */

    private static final Logger log = LoggerFactory.getLogger(DeadlockWatch.class);

    /** How much rarer looks become: with a gap of a quarter, one follows about as long after another as a wait is unrecorded. */
    private static final int LONGEST_PAUSE = 4;

    private static final long SHORTEST_GAP_NANOS = 5_000_000;

    private final TurnstileContext client;
    private final DeadlockPolicy policy;
    private final long gapNanos;
    private final SplittableRandom jitter;

    // All guarded by this.
    private final Set<RecordedWait> waits = new LinkedHashSet<>();
    private Scheduler.@Nullable Timer timer;
    private int looks;

    /** Where a look begins, if there are too many waits for one. It stays while new cycles are seen, to see them again. */
    private int part;

    private int pause;
    private List<WaitGraph.Cycle> suspected = List.of();
    private final List<WaitGraph.Cycle> reported = new ArrayList<>();
    private boolean closed;

    /**
     * Makes a watch.
     *
     * @param afterNanos how long a thread waits before that is recorded; the looks follow in fractions of that
     */
    public DeadlockWatch(TurnstileContext client, DeadlockPolicy policy, long afterNanos) {
        this.client = client;
        this.policy = policy;
        this.gapNanos = Math.max(afterNanos / 4, SHORTEST_GAP_NANOS);
        this.jitter = new SplittableRandom(client.id().hashCode());
    }

    synchronized void began(RecordedWait wait) {
        waits.add(wait);
        pause = 0;
        next(gapNanos);
    }

    synchronized void ended(RecordedWait wait) {
        waits.remove(wait);
    }

    /** Looks again after about a time, and not when it was to look before. */
    private synchronized void next(long nanos) {
        if (timer != null) {
            timer.cancel();
        }
        if (!closed) {
            timer = client.scheduler().schedule(nanos - nanos / 8 + jitter.nextLong(nanos / 4), this::look);
        }
    }

    private void look() {
        Own own;
        int number;
        int from;
        synchronized (this) {
            if (closed || waits.isEmpty()) {
                suspected = List.of();
                reported.clear();
                timer = null;
                return;
            }
            own = new Own(client.id(), List.copyOf(waits));
            number = ++looks;
            from = part;
            next(client.requestTimeoutNanos()); // if there is no answer
        }
        new GraphWalk(client.backend(), own::complete)
                .from(own.targets(from))
                .whenComplete((graph, error) -> read(number, own, graph, error));
    }

    private void read(int number, Own own, @Nullable WaitGraph graph, @Nullable Throwable error) {
        if (error != null || graph == null) {
            log.debug("Reading the wait-for graph failed", error);
        }
        List<WaitGraph.Cycle> seen = graph == null ? List.of() : own.cycles(graph);
        List<WaitGraph.Cycle> deadlocks = new ArrayList<>();
        synchronized (this) {
            if (closed || number != looks) {
                return;
            }
            seen.stream().filter(cycle -> isIn(suspected, cycle)).forEach(deadlocks::add);
            boolean news = deadlocks.size() < seen.size();
            suspected = seen;
            // Not those that were not seen: a look may fail, or begin elsewhere.
            reported.removeIf(cycle -> !own.isOfThisClient(cycle));
            part = news ? part : part + 1;
            pause = news ? 0 : Math.min(Math.max(2 * pause, 1), LONGEST_PAUSE);
            next(gapNanos * Math.max(pause, 1));
        }
        if (graph != null && seen.isEmpty()) {
            own.showOthers();
        }
        deadlocks.forEach(cycle -> found(cycle, own));
    }

    /** A cycle is a deadlock. */
    private void found(WaitGraph.Cycle cycle, Own own) {
        RecordedWait victim = mayFail(cycle) ? own.waitOf(cycle.victim()) : null;
        boolean failed = victim != null
                && victim.waiter()
                        .turnstile()
                        .waits()
                        .fail(
                                victim.waiter(),
                                () -> new DeadlockException(victim.waitsFor().lock(), cycle));
        boolean news;
        synchronized (this) {
            news = !isIn(reported, cycle) && reported.add(cycle);
        }
        if (news || failed) {
            client.events().deadlock(new EventRecords.Deadlock(cycle, failed));
        }
    }

    /** A call does not fail because of a record that may be outdated. */
    private boolean mayFail(WaitGraph.Cycle cycle) {
        boolean bounded = cycle.victim().waitsFor().isBounded();
        return cycle.isCertain()
                && (policy == DeadlockPolicy.FAIL_TIMED_TOO || policy == DeadlockPolicy.FAIL && !bounded);
    }

    private static boolean isIn(List<WaitGraph.Cycle> cycles, WaitGraph.Cycle cycle) {
        return cycles.stream().anyMatch(cycle::isSameAs);
    }

    @Override
    public synchronized void close() {
        closed = true;
        waits.clear();
        if (timer != null) {
            timer.cancel();
        }
    }

    /** The facts that this client knows better than the engine: its own waits. */
    private static final class Own {
        private final String prefix;
        private final List<RecordedWait> waits;
        private final Map<String, RecordedWait> byClaim = new HashMap<>();

        /** Whether several readers wait under one grant, of which the engine shows one. */
        private boolean several;

        Own(String clientId, List<RecordedWait> waits) {
            this.prefix = clientId + '.';
            this.waits = waits;
            for (RecordedWait wait : waits) {
                for (Hold hold : wait.holds()) {
                    if (hold.turnstile.waits().shown(hold).equals(Optional.of(wait.waitsFor()))) {
                        byClaim.put(hold.claimId(), wait);
                    } else {
                        several = true;
                    }
                }
            }
        }

        /** Where a walk begins: if these are too many to follow them all, at a part of them, of which there are several. */
        List<String> targets(int part) {
            List<String> names = waits.stream()
                    .map(wait -> wait.waitsFor().lock())
                    .distinct()
                    .toList();
            int most = GraphWalk.MOST_LOCKS / 2;
            int parts = Math.max(1, (names.size() + most - 1) / most);
            int first = Math.floorMod(part, parts) * most;
            return names.subList(first, Math.min(first + most, names.size()));
        }

        /** The engine may not know of a wait yet, or may not store any. */
        LockInfo complete(LockInfo lock) {
            LockInfo scaled = Tokens.scaled(lock);
            return scaled.withHolders(
                    scaled.holders().stream().map(this::complete).toList());
        }

        private LockInfo.Entry complete(LockInfo.Entry holder) {
            RecordedWait wait = holder.claim().map(byClaim::get).orElse(null);
            return wait == null ? holder : holder.withWait(wait.waitsFor());
        }

        @Nullable
        RecordedWait waitOf(WaitGraph.Edge edge) {
            RecordedWait wait = edge.holder().claim().map(byClaim::get).orElse(null);
            return wait != null && wait.waitsFor().equals(edge.waitsFor()) ? wait : null;
        }

        /** The cycles that include this client. A stored wait of this client that it does not know is outdated. */
        List<WaitGraph.Cycle> cycles(WaitGraph graph) {
            return graph.cycles().stream().filter(this::isOfThisClient).toList();
        }

        private boolean isOfThisClient(WaitGraph.Cycle cycle) {
            List<WaitGraph.Edge> own =
                    cycle.edges().stream().filter(this::isOwn).toList();
            return !own.isEmpty() && own.stream().allMatch(this::isLive);
        }

        private boolean isOwn(WaitGraph.Edge edge) {
            return edge.holder()
                    .claim()
                    .filter(claim -> claim.startsWith(prefix))
                    .isPresent();
        }

        private boolean isLive(WaitGraph.Edge edge) {
            RecordedWait wait = waitOf(edge);
            return wait != null && !wait.waiter().isOver();
        }

        void showOthers() {
            if (several) {
                waits.forEach(RecordedWait::showNext);
            }
        }
    }
}
