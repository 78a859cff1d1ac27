package dev.lockstep.torture;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/*
 * Overview. Safety, then liveness, then silence:
 *
 *   1. all workers go wild, and the nemesis breaks one thing after the other;
 *   2. all is healed, and the engine recovers: every lock, and every worker, must enter again within the ttl and five
 *      seconds;
 *   3. the engine is healthy: it has served every worker and every lock since the last fault, and no request from before
 *      its end is still under way. From now on no call may say that the engine is not available;
 *   4. the workers rest: no call may hang, and nothing may be held or waited for while their clients are still open;
 *   5. their clients close: nothing may be left of them;
 *   6. the history is checked.
 */
/** One run of the torture on one engine. Used once, by one thread. */
final class Run {
    /**
     * The time that a lock may need beyond the ttl of a dead holder: a request that was lost takes the request timeout
     * of two seconds to be noticed, its retry as long again if its connection is broken too, and reconnecting up to a
     * second.
     */
    private static final Duration GRACE = Duration.ofSeconds(5);

    /** Workers have begun to take locks, so that the first fault hits some. No rule depends on it. */
    private static final Duration WARM_UP = Duration.ofMillis(300);

    /** The least time on a healthy engine, and how often it is waited for more witnesses of the order. */
    private static final Duration CALM = Duration.ofMillis(1_500);

    private static final int CALMS = 20;

    /** Witnesses of the order that a run waits for. Others may be lost in the check, since stalls are reported late. */
    private static final int ENOUGH = 10;

    private final Rig rig;
    private final Settings settings;
    private final Observer observer;
    private final Progress progress;
    private final long start = System.nanoTime();
    private final long stalledAtStart = Stalls.nanos();
    private long healed;
    private double workersStalled;

    Run(Rig rig, Settings settings) {
        this(rig, settings, (engine, passed, sections, faults) -> {});
    }

    Run(Rig rig, Settings settings, Progress progress) {
        this.progress = progress;
        this.rig = rig;
        this.settings = settings;
        this.observer = new Observer(settings.locks());
    }

    Report run() throws Exception {
        List<Worker.Plan> plans = new ArrayList<>();
        for (int client = 0; client < settings.workers(); client++) {
            plans.add(
                    new Worker.Plan(client, settings.withSeed(settings.seed() + 31L * client), rig.ttl(), rig.pause()));
        }
        List<Hand> hands = rig.start(observer, plans);
        Stalls.Listening stalls =
                Stalls.listen(stallThatCounts(rig.ttl()), nanos -> observer.stalled(FaultWindow.ALL, nanos));
        try {
            breakThings(hands);
            if (requireProgress(hands)) {
                requireSilence(hands);
            }
            workersStalled = hands.stream().mapToLong(TimeLimit::stalled).max().orElse(0) / 1e9;
        } finally {
            hands.forEach(hand -> leftOver(hand.quit(), "worker " + hand.client()));
            stalls.close();
        }
        leftOver(rig.leftovers(), "the engine");
        Verdict verdict = new Checker(observer.history(), rig.settle().toNanos()).check();
        observer.checkVictims(rig.settle().toNanos(), verdict);
        observer.complaints().forEach(verdict::add);
        requireFencing(verdict);
        Report.Pauses pauses = new Report.Pauses((Stalls.nanos() - stalledAtStart) / 1e9, workersStalled);
        return new Report(rig, settings, observer, verdict, healed, (System.nanoTime() - start) / 1e9, pauses);
    }

    /** How long a process may be paused before it can lose its place in a queue. */
    static long stallThatCounts(Duration ttl) {
        return ttl.toNanos() / 8;
    }

    private void breakThings(List<Hand> hands) throws Exception {
        hands.forEach(hand -> hand.go(Worker.Pace.WILD));
        Parking.forTime(WARM_UP);
        long began = System.nanoTime();
        new Nemesis(rig.faults(), observer, rig.ttl(), settings.seed())
                .rage(settings.duration().toNanos(), faults -> {
                    Duration passed = Duration.ofNanos(System.nanoTime() - began);
                    progress.at(rig.name(), passed, observer.sections(), faults);
                });
    }

    private boolean requireProgress(List<Hand> hands) {
        healed = observer.now();
        hands.forEach(hand -> hand.go(Worker.Pace.RECOVERY));
        Duration patience = rig.ttl().plus(GRACE);
        TimeLimit progress = TimeLimit.of(patience, hands);
        if (!progress.await(() -> observer.allEnteredAfter(healed))) {
            String text = "a lock was not granted within " + seconds(patience) + " of the end of all faults";
            observer.complain(Rule.LIVENESS, -1, text);
            return false;
        }
        for (Hand hand : hands) {
            if (!progress.await(() -> observer.hasEnteredAfter(healed, hand.client()))) {
                String text = "worker " + hand.client() + " got no lock within " + seconds(patience)
                        + " of the end of all faults";
                observer.complain(Rule.LIVENESS, -1, text);
            }
        }
        Parking.forNanos(healed + rig.recovery().toNanos() - observer.now());
        hands.forEach(hand -> hand.go(Worker.Pace.CALM));
        Duration calm = settings.duration().dividedBy(20);
        Parking.forTime(rig.settle().plus(calm.compareTo(CALM) > 0 ? calm : CALM));
        // Clients that wait now, without faults, can show that the order is kept.
        int calms = observer.hasFair() ? CALMS : 0;
        long settle = rig.settle().toNanos();
        for (int i = 0; i < calms && observer.orderWitnesses(healed + settle, settle) < ENOUGH; i++) {
            Parking.forTime(CALM);
        }
        return true;
    }

    private void requireSilence(List<Hand> hands) {
        Duration patience = rig.ttl().plus(GRACE);
        hands.forEach(hand -> hand.go(Worker.Pace.REST));
        TimeLimit calls = TimeLimit.of(patience, hands);
        for (Hand hand : hands) {
            if (!calls.await(() -> hand.calls().isEmpty())) {
                String text = "worker " + hand.client() + " hangs after " + seconds(patience) + " " + hand.calls();
                observer.complain(Rule.LIVENESS, -1, text);
            }
        }
        try (LockClient client = rig.connect()) {
            List<LockInfo> held = new ArrayList<>();
            boolean silent = TimeLimit.of(patience, hands).await(() -> {
                held.clear();
                held.addAll(list(client));
                return held.isEmpty();
            });
            if (!silent) {
                held.forEach(info -> observer.complain(Rule.LEFTOVERS, -1, "held or waited for at the end: " + info));
            }
        }
    }

    private static List<LockInfo> list(LockClient client) {
        try {
            return client.list("");
        } catch (LockUnavailableException e) {
            return List.of(LockInfo.free("unknown: " + e.getMessage()));
        }
    }

    private void leftOver(List<String> what, String whose) {
        what.forEach(each -> observer.complain(Rule.LEFTOVERS, -1, "left of " + whose + ": " + each));
    }

    private void requireFencing(Verdict verdict) {
        List<Registers> registers = observer.registers();
        for (int lock = 0; lock < registers.size(); lock++) {
            long lost = registers.get(lock).fencedLost();
            if (lost != 0) {
                String text = lost + " updates lost";
                verdict.add(new Violation(Rule.FENCING, lock, observer.now(), text, ""));
            }
        }
    }

    private static String seconds(Duration duration) {
        return TimeUnit.NANOSECONDS.toMillis(duration.toNanos()) / 1000.0 + " s";
    }
}
