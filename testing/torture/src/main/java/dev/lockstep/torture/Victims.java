package dev.lockstep.torture;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

/*
 * Overview. A call for one lock by a thread that holds another one is an edge between the two, from when it was asked to when it was
 * entered or given up. These stamps are taken before the call and after it, so the edge lasts longer than the wait at the engine, and
 * each real cycle is a cycle of edges. A call that failed as a deadlock's victim must have been in such a cycle at some time of its
 * wait.
 *
 * A client that is cut off or paused cannot remove what it has recorded, and neither can the engine before the ttl is over: so the
 * edges of a client that a fault hurt last for longer by that. Victims that only these edges explain are excused.
 */
/** Checks that no call failed because of a deadlock without one. Not thread-safe. */
final class Victims {
    private final Map<Integer, Integer> outers = new HashMap<>();
    private final List<Integer> victims = new ArrayList<>();

    /** A call is made by a thread that is inside another section. */
    void inside(int inner, int outer) {
        outers.put(inner, outer);
    }

    /** The call failed because of a deadlock. */
    void failed(int inner) {
        victims.add(inner);
    }

    void check(History history, long settleNanos, Verdict verdict) {
        verdict.checked(Rule.VICTIM, victims.size());
        for (int victim : victims) {
            if (!wasInCycle(history, victim, section -> end(history, section))) {
                ToLongFunction<Integer> late = section -> end(history, section) + delay(history, section, settleNanos);
                String excuse = wasInCycle(history, victim, late) ? "a client that could not remove its record" : "";
                String text = "client " + history.client(victim) + " was in no cycle while it held lock "
                        + lock(history, outers.getOrDefault(victim, victim)) + " and waited for lock "
                        + lock(history, victim);
                verdict.add(new Violation(Rule.VICTIM, history.lock(victim), end(history, victim), text, excuse));
            }
        }
    }

    private static int lock(History history, int section) {
        return history.lock(section);
    }

    /** When a wait was over at the latest. */
    private static long end(History history, int section) {
        return history.wasEntered(section) ? history.entered(section) : history.exited(section);
    }

    /** For how long after its end a wait may still be recorded. */
    private static long delay(History history, int section, long settleNanos) {
        boolean hurt = history.faults().stream()
                .anyMatch(fault -> fault.hurts(history.client(section), history.lock(section))
                        && fault.from() <= end(history, section) + settleNanos
                        && fault.until() + settleNanos >= history.asked(section));
        return hurt ? settleNanos : 0;
    }

    private boolean wasInCycle(History history, int victim, ToLongFunction<Integer> end) {
        Integer held = outers.get(victim);
        if (held == null) {
            return false;
        }
        long from = history.asked(victim);
        long until = end(history, victim);
        List<Integer> edges = outers.keySet().stream()
                .filter(edge -> history.asked(edge) <= until && end.applyAsLong(edge) >= from)
                .toList();
        Set<Long> moments = new TreeSet<>(Set.of(from)); // an edge set only grows where one begins
        edges.stream().map(history::asked).filter(asked -> asked > from).forEach(moments::add);
        return moments.stream().anyMatch(moment -> {
            Map<Integer, Set<Integer>> waits = new HashMap<>();
            edges.stream()
                    .filter(edge -> history.asked(edge) <= moment && end.applyAsLong(edge) >= moment)
                    .forEach(edge -> waits.computeIfAbsent(
                                    history.lock(outers.getOrDefault(edge, edge)), lock -> new HashSet<>())
                            .add(history.lock(edge)));
            return leads(waits, history.lock(victim), history.lock(held));
        });
    }

    private static boolean leads(Map<Integer, Set<Integer>> waits, int from, int to) {
        Set<Integer> seen = new HashSet<>();
        Deque<Integer> open = new ArrayDeque<>(List.of(from));
        while (!open.isEmpty()) {
            int lock = open.remove();
            if (lock == to) {
                return true;
            }
            if (seen.add(lock)) {
                open.addAll(waits.getOrDefault(lock, Set.of()));
            }
        }
        return false;
    }
}
