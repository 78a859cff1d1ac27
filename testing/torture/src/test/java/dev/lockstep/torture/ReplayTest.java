package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.LockClient;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.torture.Fault.Act;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A seed plays the same schedule again, however the run turns out. */
@Timeout(120)
class ReplayTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int CALLS = 60;
    private static final int THREADS = 5; // two of them hold their locks only briefly

    /** Writes down what a thread asks for. */
    private static final class Notes implements Witness {
        private final List<String> asked = Collections.synchronizedList(new ArrayList<>());

        @Override
        public int ask(int lock, boolean shared, boolean fair) {
            asked.add(lock + (shared ? " shared" : "") + (fair ? " fair" : ""));
            return 0;
        }

        @Override
        public int askPermits(int semaphore, int permits, int limit) {
            asked.add(permits + " permits");
            return 0;
        }

        @Override
        public int slot(int section, int lock) {
            return 0;
        }

        @Override
        public void queued(int section) {}

        @Override
        public void inside(int section, int outer) {}

        @Override
        public void victim(int section) {}

        @Override
        public Seen enter(int section, long token) {
            return new Seen(0, 0, 0);
        }

        @Override
        public void write(int section, Seen seen, boolean valid) {}

        @Override
        public void look(int section, boolean valid) {}

        @Override
        public void ended(int section) {}

        @Override
        public void reopened() {}

        @Override
        public void stalled(long nanos) {}

        @Override
        public void exit(int section, boolean valid) {}

        @Override
        public void giveUp(int section) {}

        @Override
        public void complain(Rule rule, int lock, String text) {}
    }

    /**
     * The calls of threads with locks and permits. The tasks of terms always ask for the same election, and the last
     * threads ask for a second lock only if they got the first one.
     */
    private static Stream<Notes> scheduled(List<Notes> notes) {
        return notes.subList(0, THREADS + 2).stream();
    }

    /** The calls of each thread, on an engine where another client holds the third lock for a time. */
    private static List<List<String>> schedule(long seed, Duration held) throws InterruptedException {
        MemoryEngine engine = new MemoryEngine();
        List<Notes> notes = new ArrayList<>();
        try (LockClient other = LockClient.builder().backend(engine).connect()) {
            other.lock(Locks.name(3)).lock();
            Settings settings = new Settings(1, THREADS, 12, Duration.ZERO, seed);
            Worker.Plan plan = new Worker.Plan(0, settings, Duration.ofMillis(400), Duration.ZERO);
            Worker worker = new Worker(
                    plan,
                    () -> LockClient.builder()
                            .backend(engine)
                            .ttl(plan.ttl())
                            .deadlocks(DeadlockPolicy.FAIL)
                            .recordWaitsAfter(Worker.RECORD_WAITS_AFTER)
                            .connect(),
                    () -> {
                        notes.add(new Notes());
                        return notes.get(notes.size() - 1);
                    });
            worker.go(Worker.Pace.WILD);
            TimeUnit.NANOSECONDS.sleep(held.toNanos());
            other.lock(Locks.name(3)).unlock();
            assertThat(Parking.until(() -> scheduled(notes).allMatch(each -> each.asked.size() >= CALLS), PATIENCE))
                    .isTrue();
            worker.go(Worker.Pace.REST);
            worker.close();
        }
        return scheduled(notes)
                .map(each -> List.copyOf(each.asked.subList(0, CALLS)))
                .toList();
    }

    @Test
    void theWorkersAskForTheSameAgain() throws InterruptedException {
        List<List<String>> once = schedule(5, Duration.ofMillis(1));
        assertThat(schedule(5, Duration.ofMillis(300))).isEqualTo(once);
        assertThat(once.get(0)).isNotEqualTo(once.get(1));
        assertThat(schedule(6, Duration.ofMillis(1))).isNotEqualTo(once);
    }

    private static List<String> faults(long seed) {
        List<Fault> kinds = IntStream.range(0, 5)
                .mapToObj(kind -> Fault.of("kind " + kind, Length.SHORT, random -> Injected.all("", Act.NONE)))
                .toList();
        Nemesis nemesis = new Nemesis(kinds, new Observer(1), Duration.ofSeconds(1), seed);
        return IntStream.range(0, 50)
                .mapToObj(place -> nemesis.choose(place).kind())
                .toList();
    }

    @Test
    void theNemesisBreaksTheSameAgainAndNoKindMoreOftenThanAnother() {
        assertThat(faults(5)).isEqualTo(faults(5)).isNotEqualTo(faults(6));
        for (int round = 0; round < 50; round += 5) {
            assertThat(faults(5).subList(round, round + 5)).doesNotHaveDuplicates();
        }
    }
}
