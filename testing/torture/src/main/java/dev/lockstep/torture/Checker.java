package dev.lockstep.torture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/*
 * Overview. Each lock is checked for itself, in one sweep for each rule over its sections in the order of a stamp: memory
 * is linear in the number of sections, time n log n for the sorting. A rule counts a section once, against the worst of
 * those before it.
 *
 *   exclusion  in order of entry, against those certainly inside whom the section excludes, one of each client: first those
 *              whom no fault excuses, so that none of them hides behind one that is excused
 *   permits    in order of entry, the permits of those certainly inside are counted: first of those whom no fault excuses
 *   tokens     by entry: certain sections that exclude each other were granted in the order of their entries, so each must
 *              have a higher token than all before it; and by asking: a client that asked after another entered was granted
 *              later, certain or not
 *   order      in order of entry, against the waiter that was certainly queued first and is still not in; one that gave
 *              up, or whom a fault may have hurt, may have lost its place and does not count; nor does one whose client lost a
 *              hold meanwhile: its session or lease has ended, and with it its places in queues
 *
 * A broken rule is excused if a fault was on, or had ended less than the settling time before, in which the engine does
 * not promise it. Where exclusion is not promised, the order of entries proves nothing about the order of grants; and a client
 * that has not been notified yet that its grant was revoked hands it on to its next thread, with the old token, as it must for
 * storage to refuse it. So there such tokens are excused; but a grant that was asked for later must have a new token all the
 * same. When it can have been asked for is in Claims.
 */
/** Checks a history. For one thread. */
final class Checker {
    private final History history;
    private final long settleNanos;
    private final Verdict verdict = new Verdict();

    /** By client: when it lost holds of any lock, to no fault of that lock. */
    private Map<Integer, Troubles> losses = Map.of();

    /**
     * Makes a checker.
     *
     * @param settleNanos how long after a fault holds from before it can have an effect: the ttl, and some
     */
    Checker(History history, long settleNanos) {
        this.history = history;
        this.settleNanos = settleNanos;
    }

    Verdict check() {
        losses = losses();
        int[] counts = new int[64];
        for (int section = 0; section < history.size(); section++) {
            int lock = history.lock(section);
            if (lock >= counts.length) {
                counts = Arrays.copyOf(counts, Math.max(lock + 1, counts.length * 2));
            }
            counts[lock]++;
        }
        int[][] byLock = new int[counts.length][];
        for (int lock = 0; lock < counts.length; lock++) {
            byLock[lock] = new int[counts[lock]];
        }
        for (int section = history.size() - 1; section >= 0; section--) {
            int lock = history.lock(section);
            byLock[lock][--counts[lock]] = section;
        }
        for (int lock = 0; lock < byLock.length; lock++) {
            check(lock, byLock[lock]);
            byLock[lock] = new int[0];
        }
        return verdict;
    }

    private void check(int lock, int[] sections) {
        int[] entered = Order.by(history::entered, only(sections, history::wasEntered));
        Troubles unsafe = Troubles.of(
                history.faults(),
                settleNanos,
                fault -> fault.excuses().contains(Rule.EXCLUSION) && fault.hurtsLock(lock));
        int[] safe = only(entered, section -> !unsafe.touch(history.entered(section), history.entered(section)));
        if (sections.length > 0 && history.limit(sections[0]) > 0) {
            permits(only(entered, history::isCertain));
            verdict.checked(Rule.PERMITS, only(safe, history::isCertain).length);
            return;
        }
        exclusion(entered);
        verdict.checked(Rule.EXCLUSION, only(safe, history::isCertain).length);
        tokens(entered, sections);
        verdict.checked(Rule.TOKENS, only(safe, section -> history.token(section) != 0).length);
        int[] witnesses = witnesses(lock, sections);
        order(entered, witnesses);
        verdict.checked(Rule.ORDER, witnesses.length);
    }

    /** Each from the last time at which the lease was valid until it was seen that it was not. */
    private Map<Integer, Troubles> losses() {
        Map<Integer, List<FaultWindow>> windows = new HashMap<>();
        for (int section = 0; section < history.size(); section++) {
            long until = history.ended(section);
            if (until == History.NEVER) {
                continue;
            }
            int client = history.client(section);
            int lock = history.lock(section);
            long from = Math.max(history.certain(section), history.entered(section));
            boolean ofLock = history.faults().stream()
                    .anyMatch(fault -> fault.lock() == lock
                            && fault.hurts(client, lock)
                            && fault.from() <= until
                            && fault.until() + settleNanos >= from);
            if (!ofLock) {
                windows.computeIfAbsent(client, key -> new ArrayList<>()).add(FaultWindow.loss(client, from, until));
            }
        }
        Map<Integer, Troubles> byClient = new HashMap<>();
        windows.forEach((client, lost) -> byClient.put(client, Troubles.of(lost, 0, each -> true)));
        return byClient;
    }

    static int[] only(int[] sections, IntPredicate wanted) {
        return Arrays.stream(sections).filter(wanted).toArray();
    }

    private void exclusion(int[] entered) {
        Map<Integer, Integer> writers = new HashMap<>(); // certainly inside: the longest of each client
        Map<Integer, Integer> readers = new HashMap<>();
        int[] present = {-1, -1}; // the longest of writers and of readers so far, certain or not
        for (int section : entered) {
            long at = history.entered(section);
            writers.values().removeIf(other -> history.certain(other) <= at);
            readers.values().removeIf(other -> history.certain(other) <= at);
            int rival = history.isCertain(section) ? rival(section, writers, readers) : -1;
            if (rival >= 0) {
                report(Rule.EXCLUSION, at, describe(rival) + " and " + describe(section), section, rival);
            } else {
                int other = longest(section, present);
                if (other >= 0 && end(other) > at) {
                    String text =
                            describe(other) + " was still inside, its lease over, when " + describe(section) + " came";
                    verdict.overlapAfterLease(new Incident(history.lock(section), at, text));
                }
            }
            boolean shared = history.isShared(section);
            if (history.isCertain(section)) {
                (shared ? readers : writers)
                        .merge(
                                history.client(section),
                                section,
                                (old, now) -> history.certain(now) > history.certain(old) ? now : old);
            }
            int kind = shared ? 1 : 0;
            if (present[kind] < 0 || end(section) > end(present[kind])) {
                present[kind] = section;
            }
        }
    }

    private void permits(int[] entered) {
        PriorityQueue<Integer> inside = new PriorityQueue<>(Comparator.comparingLong(history::certain));
        for (int section : entered) {
            long at = history.entered(section);
            while (!inside.isEmpty() && history.certain(inside.element()) <= at) {
                inside.remove();
            }
            inside.add(section);
            int limit = history.limit(section);
            int[] all = inside.stream().mapToInt(Integer::intValue).toArray();
            if (permitsOf(all) > limit) {
                // Those whom no fault excuses are too many already, or one that is excused makes them so.
                int[] healthy = only(all, each -> excuse(Rule.EXCLUSION, at, each) == null);
                int[] accused = permitsOf(healthy) > limit ? healthy : all;
                String text =
                        permitsOf(accused) + " of " + limit + " permits are valid, the last of " + describe(section);
                report(Rule.PERMITS, Rule.EXCLUSION, at, text, accused);
            }
        }
    }

    private int permitsOf(int[] sections) {
        return Arrays.stream(sections).map(history::permits).sum();
    }

    /**
     * Of those inside whom a section excludes, one whom nothing excuses if there is one; -1 if there is none. An excuse is a
     * client's, so one section of each client is enough.
     */
    private int rival(int section, Map<Integer, Integer> writers, Map<Integer, Integer> readers) {
        Stream<Integer> all = history.isShared(section)
                ? writers.values().stream()
                : Stream.concat(writers.values().stream(), readers.values().stream());
        long at = history.entered(section);
        return all.min(Comparator.comparing(other -> excuse(Rule.EXCLUSION, at, section, other) != null))
                .orElse(-1);
    }

    /** Of those that a section excludes, the one who stayed longest; -1 if there is none. */
    private int longest(int section, int[] present) {
        if (history.isShared(section) || present[1] < 0) {
            return present[0];
        }
        return present[0] >= 0 && end(present[0]) > end(present[1]) ? present[0] : present[1];
    }

    /** The latest time at which somebody was inside, its lease over or not. */
    private long end(int section) {
        return Math.max(history.certain(section), Math.max(history.entered(section), history.exited(section)));
    }

    private void tokens(int[] entered, int[] sections) {
        BitSet tooLow = new BitSet();
        BitSet excusable = new BitSet(); // where two may be inside
        tokensByEntry(entered, excusable);
        tokensByAsking(entered, sections, tooLow, excusable);
        excusable.andNot(tooLow);
        tooLow.stream().forEach(section -> tooLow(section, Rule.TOKENS));
        excusable.stream().forEach(section -> tooLow(section, Rule.EXCLUSION));
    }

    private void tooLow(int section, Rule premise) {
        String text = describe(section) + " is not above all before";
        report(Rule.TOKENS, premise, history.entered(section), text, section);
    }

    private void tokensByEntry(int[] entered, BitSet tooLow) {
        int[] highest = {-1, -1};
        for (int section : entered) {
            if (history.isCertain(section) && history.token(section) != 0) {
                if (isTooLow(section, highest)) {
                    tooLow.set(section);
                }
                remember(section, highest);
            }
        }
    }

    private void tokensByAsking(int[] entered, int[] sections, BitSet tooLow, BitSet excusable) {
        Claims claims = new Claims(history, sections);
        int[] highest = {-1, -1};
        int next = 0;
        for (int section : Order.by(history::asked, entered)) {
            while (next < entered.length && history.entered(entered[next]) < history.asked(section)) {
                if (history.token(entered[next]) != 0) {
                    remember(entered[next], highest);
                }
                next++;
            }
            if (history.token(section) != 0 && isTooLow(section, highest)) {
                (wasHandedOn(section, highest, claims) ? excusable : tooLow).set(section);
            }
        }
    }

    /** Whether two may be inside, and its client had asked for its grant before those with higher tokens came. */
    private boolean wasHandedOn(int section, int[] highest, Claims claims) {
        if (excuse(Rule.EXCLUSION, history.entered(section), section) == null) {
            return false;
        }
        long came = IntStream.of(highest)
                .filter(other -> other >= 0 && history.token(other) >= history.token(section))
                .filter(other -> !history.isShared(other) || !history.isShared(section))
                .mapToLong(history::entered)
                .min()
                .orElse(Long.MAX_VALUE);
        return claims.mayBeFromBefore(came, section);
    }

    /** Whether a token is not above the highest so far of writers, and if it is a writer's, of readers, too. */
    private boolean isTooLow(int section, int[] highest) {
        long token = history.token(section);
        return (highest[0] >= 0 && history.token(highest[0]) >= token)
                || (!history.isShared(section) && highest[1] >= 0 && history.token(highest[1]) >= token);
    }

    private void remember(int section, int[] highest) {
        int kind = history.isShared(section) ? 1 : 0;
        if (highest[kind] < 0 || history.token(section) > history.token(highest[kind])) {
            highest[kind] = section;
        }
    }

    /** How many of the callers since a time show that a fair lock serves in order. Looks only at those. */
    long orderWitnesses(long since) {
        Map<Integer, List<Integer>> byLock = new HashMap<>();
        for (int section = history.size() - 1; section >= 0; section--) {
            if (history.isFair(section) && history.asked(section) < since) {
                break; // fair ones are in the order of their calls
            }
            if (history.isOrderWitness(section)) {
                byLock.computeIfAbsent(history.lock(section), lock -> new ArrayList<>())
                        .add(section);
            }
        }
        return byLock.entrySet().stream()
                .mapToLong(each -> witnesses(
                                each.getKey(),
                                each.getValue().stream()
                                        .mapToInt(Integer::intValue)
                                        .toArray())
                        .length)
                .sum();
    }

    /** Who shows that a fair lock serves in order: they certainly waited, certainly got in, and lost no place. */
    private int[] witnesses(int lock, int[] sections) {
        Map<Integer, Troubles> byClient = new HashMap<>();
        int[] waited = only(sections, history::isOrderWitness);
        IntPredicate lostAPlace = section -> byClient.computeIfAbsent(
                                history.client(section),
                                client ->
                                        Troubles.of(history.faults(), settleNanos, fault -> fault.hurts(client, lock)))
                        .touch(history.asked(section), history.entered(section))
                || losses.getOrDefault(history.client(section), Troubles.NONE)
                        .touch(history.asked(section), history.entered(section));
        return Order.by(history::queued, only(waited, lostAPlace.negate()));
    }

    private void order(int[] entered, int[] queued) {
        Comparator<Integer> first = Comparator.comparingLong(history::queued);
        PriorityQueue<Integer> writers = new PriorityQueue<>(first);
        PriorityQueue<Integer> readers = new PriorityQueue<>(first);
        int next = 0;
        for (int section : entered) {
            if (!history.isFair(section)) {
                continue;
            }
            long at = history.entered(section);
            for (; next < queued.length && history.queued(queued[next]) < at; next++) {
                (history.isShared(queued[next]) ? readers : writers).add(queued[next]);
            }
            if (overtakes(section, writers) || (!history.isShared(section) && overtakes(section, readers))) {
                report(Rule.ORDER, at, describe(section) + " was served before one who had waited longer", section);
            }
        }
    }

    private boolean overtakes(int section, PriorityQueue<Integer> waiting) {
        while (!waiting.isEmpty() && history.entered(waiting.element()) <= history.entered(section)) {
            waiting.remove();
        }
        return !waiting.isEmpty() && history.queued(waiting.element()) < history.asked(section);
    }

    private void report(Rule rule, long at, String text, int... sections) {
        report(rule, rule, at, text, sections);
    }

    /** Reports that some sections of a lock broke a rule, which is excused where its premise is not promised. */
    private void report(Rule rule, Rule premise, long at, String text, int... sections) {
        String excuse = excuse(premise, at, sections);
        verdict.add(new Violation(rule, history.lock(sections[0]), at, text, excuse == null ? "" : excuse));
    }

    /** The fault that hurt one of some sections and in which the engine does not promise a rule; null if it promises it. */
    private @Nullable String excuse(Rule rule, long at, int... sections) {
        return history.faults().stream()
                .filter(fault -> fault.excuses().contains(rule))
                .filter(fault -> IntStream.of(sections)
                        .anyMatch(section -> fault.hurts(history.client(section), history.lock(section))))
                .filter(fault -> fault.from() <= at && fault.until() + settleNanos >= at)
                .map(FaultWindow::kind)
                .findFirst()
                .orElse(null);
    }

    private String describe(int section) {
        String kind = history.isShared(section) ? "reader " : "writer ";
        return (history.limit(section) > 0 ? "permit " : kind) + section + " of client " + history.client(section)
                + " (token " + history.token(section) + ")";
    }
}
