package dev.lockstep.console;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.console.Blockers.Blocker;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The result of one look at the engine. Immutable.
 *
 * @param version counts the looks
 * @param at when, by this process's clock
 * @param engine the engine's health
 * @param cost what the look cost
 * @param namespaces the namespaces that were looked at
 * @param locks the locks that are held or waited for; those of the last answer while the engine does not answer
 * @param blockers see {@link Blockers}
 * @param confirmed the signatures of the cycles that were seen at the look before, too
 */
record Sample(
        long version,
        Instant at,
        Engine engine,
        Cost cost,
        List<String> namespaces,
        List<Located> locks,
        List<Blocker> blockers,
        Set<String> confirmed) {

    /**
     * The engine's health.
     *
     * @param info what it is; null until it has answered once
     * @param ping how long the last ping took; empty if it failed
     * @param error why the last look failed; null if it did not
     * @param answered when the engine last answered, which is what the sample shows; null if it has not yet
     * @param fallback whether the client uses its fallback
     */
    record Engine(
            @Nullable EngineInfo info,
            Optional<Duration> ping,
            @Nullable String error,
            @Nullable Instant answered,
            boolean fallback) {
        boolean isReachable() {
            return error == null;
        }
    }

    /**
     * The cost of a look, and the time of the next one.
     *
     * @param took how long a listing takes: the shortest of the last three
     * @param pages in how many pages the locks came
     * @param truncated whether there are more locks or namespaces than are listed
     * @param pause how long the engine is left alone after it
     */
    record Cost(Duration took, int pages, boolean truncated, Duration pause) {
        static final Cost NONE = new Cost(Duration.ZERO, 0, false, Duration.ZERO);

        /** The part of the time during which the engine is asked, from 0 to 1. */
        double share() {
            double all = took.plus(pause).toNanos();
            return all == 0 ? 0 : took.toNanos() / all;
        }
    }

    static final Sample EMPTY = new Sample(
            0,
            Instant.EPOCH,
            new Engine(null, Optional.empty(), null, null, false),
            Cost.NONE,
            List.of(),
            List.of(),
            List.of(),
            Set.of());

    int waiting() {
        return locks.stream().mapToInt(lock -> lock.info().waiters().size()).sum();
    }

    int held() {
        return (int) locks.stream().filter(lock -> !lock.info().isFree()).count();
    }

    /** Cycles that were seen twice with the same claims and tokens. */
    long deadlocks() {
        return blockers.stream().filter(this::isDeadlock).count();
    }

    boolean isDeadlock(Blocker blocker) {
        return blocker.isCycle() && confirmed.contains(blocker.signature());
    }

    /** How long the entry holds or waits; zero if its machine's clock is ahead of ours. */
    Duration age(LockInfo.Entry entry) {
        return age(entry.holder().since());
    }

    Duration age(Instant since) {
        Duration age = Duration.between(since, at);
        return age.isNegative() ? Duration.ZERO : age;
    }
}
