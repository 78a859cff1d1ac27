package dev.lockstep.torture;

import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The proof that the torture can fail: each planted bug must be found, and where none is planted nothing must be. Runs on
 * the memory engine. Thread-safe.
 */
public final class Proof {
    private static final Duration TTL = Duration.ofMillis(250);

    /** Most bugs show in the first rounds, which are short; each round is half as long again as the one before. */
    private static final Duration FIRST_ROUND = Duration.ofMillis(800);

    private static final double GROWTH = 1.5;
    private static final int ROUNDS = 10;

    /** Where nothing is planted, for as long as a bug may need. */
    private static final Duration SOUND_ROUND = Duration.ofSeconds(4);

    /** So many locks that most are held briefly, and few for longer than the ttl. */
    private static final int MANY_BRIEF = 8;

    /** So few that all are held long: bugs of deadlines show there. Every other round has these. */
    private static final int ALL_LONG = 2;

    private static final int AT_ONCE = 5;

    private final Map<PlantedBug, Optional<Rule>> found;
    private final Report sound;

    private Proof(Map<PlantedBug, Optional<Rule>> found, Report sound) {
        this.found = found;
        this.sound = sound;
    }

    /**
     * Plants one bug after the other.
     *
     * @param seed decides what the workers do and what is broken
     * @return what was found
     * @throws InterruptedException if the thread is interrupted
     */
    public static Proof run(long seed) throws InterruptedException {
        ExecutorService executor = Executors.newFixedThreadPool(AT_ONCE);
        try {
            Future<Report> sound = executor.submit(() -> torture(null, MANY_BRIEF, SOUND_ROUND, seed));
            Map<PlantedBug, Future<Optional<Rule>>> running = new EnumMap<>(PlantedBug.class);
            for (PlantedBug bug : PlantedBug.values()) {
                Callable<Optional<Rule>> hunt = () -> hunt(bug, seed);
                running.put(bug, executor.submit(hunt));
            }
            Map<PlantedBug, Optional<Rule>> found = new EnumMap<>(PlantedBug.class);
            for (Map.Entry<PlantedBug, Future<Optional<Rule>>> each : running.entrySet()) {
                found.put(each.getKey(), each.getValue().get());
            }
            return new Proof(found, sound.get());
        } catch (ExecutionException e) {
            throw new IllegalStateException("the proof could not be run", e.getCause());
        } finally {
            executor.shutdownNow();
        }
    }

    /** The rule by which a bug is found, in one of some rounds, each longer than the one before. */
    private static Optional<Rule> hunt(PlantedBug bug, long seed) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Duration duration = Duration.ofMillis((long) (FIRST_ROUND.toMillis() * Math.pow(GROWTH, round)));
            Verdict verdict = torture(bug, round % 2 == 0 ? MANY_BRIEF : ALL_LONG, duration, seed + round)
                    .verdict();
            Optional<Rule> broken = bug.breaks().stream()
                    .filter(rule -> verdict.broken(rule) > 0)
                    .findFirst();
            if (broken.isPresent()) {
                return broken;
            }
        }
        return Optional.empty();
    }

    private static Report torture(@Nullable PlantedBug bug, int locks, Duration duration, long seed) throws Exception {
        BugState state = new BugState();
        try (Rig rig = new MemoryRig(
                TTL, sound -> bug == null ? sound : BugState.plant(bug, sound, state), client -> wrap(bug, client))) {
            return new Run(rig, new Settings(3, 8, locks, duration, seed)).run();
        }
    }

    /** Bugs that are planted between a worker and its client. */
    private static LockClient wrap(@Nullable PlantedBug bug, LockClient client) {
        if (bug == PlantedBug.LOSS_NOT_TOLD) {
            return DeafClient.of(client);
        }
        return bug == PlantedBug.TERM_WITHOUT_END ? EndlessTerms.of(client) : client;
    }

    /**
     * Returns whether every bug was found, and nothing where none was planted.
     *
     * @return false if the torture proves nothing
     */
    public boolean holds() {
        return sound.holds() && found.values().stream().allMatch(Optional::isPresent);
    }

    /**
     * Says which bug was found by which rule.
     *
     * @return a line for each
     */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        found.forEach((bug, rule) -> lines.add(String.format(
                "%-30s %s", bug, rule.map(broken -> "found: " + broken.broken()).orElse("NOT FOUND"))));
        lines.add(String.format("%-30s %s", "(none)", sound.holds() ? "nothing found" : "FALSE ALARM: " + sound));
        return lines;
    }
}
