package dev.lockstep.cli;

import dev.lockstep.cli.WorkerProcess.Line;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One run of a demo: assigns tasks to the processes, one to each of their threads at a time, until all are answered. If
 * a
 * process dies, its unanswered tasks are assigned to the others. For one thread.
 */
final class CrewRun {
    private static final int TICK_MILLIS = 100;
    private static final int MOST_FAILURES = 100;

    private final Crew crew;
    private final Job job;
    private final boolean locked;
    private final int threads;
    private final Deque<String> pending = new ArrayDeque<>();
    private final Map<WorkerProcess, Share> shares = new LinkedHashMap<>();
    private int answered;
    private int got;
    private int failures;

    /** The result of one process. */
    static final class Share {
        final Set<Integer> outstanding = new HashSet<>();
        final List<Long> waits = new ArrayList<>();
        int got;
        int turnedAway;
        boolean dead;
    }

    /** How a run ended. */
    record Result(boolean locked, List<Share> shares, List<Ledger.Entry> journal, int answered, long nanos) {
        /** Whether each hold had a higher token than all before it. */
        boolean tokensRise() {
            for (int i = 1; i < journal.size(); i++) {
                if (journal.get(i).token() <= journal.get(i - 1).token()) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Hears how far a run is. */
    interface Progress {
        void show(int answered, int got);
    }

    CrewRun(Crew crew, Job job, boolean locked, int threads, List<Integer> tasks) {
        this.crew = crew;
        this.job = job;
        this.locked = locked;
        this.threads = threads;
        tasks.forEach(task -> pending.add(line(task, "first")));
        crew.processes().forEach(process -> shares.put(process, new Share()));
    }

    private String line(int task, String which) {
        return job + " " + task + " " + (locked ? "locked " : "bare ") + which;
    }

    /**
     * Runs.
     *
     * @param number the first number in the ledger
     * @param killAt after how many successes to kill the last process, or null
     */
    Result run(int number, @Nullable Integer killAt, Progress progress) throws SQLException, InterruptedException {
        crew.ledger().reset(number);
        int all = pending.size();
        boolean toKill = killAt != null;
        long start = System.nanoTime();
        while (answered < all) {
            shares.forEach(this::giveTasks);
            Line line = crew.lines().poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
            if (line != null) {
                hear(line);
            }
            if (toKill && killAt != null && got >= killAt) {
                toKill = false;
                crew.processes().get(crew.processes().size() - 1).kill();
            }
            progress.show(answered, got);
        }
        long nanos = System.nanoTime() - start;
        return new Result(locked, List.copyOf(shares.values()), crew.ledger().journal(), answered, nanos);
    }

    private void giveTasks(WorkerProcess process, Share share) {
        while (!share.dead && share.outstanding.size() < threads && !pending.isEmpty()) {
            String task = pending.remove();
            share.outstanding.add(Integer.valueOf(task.split(" ")[1]));
            process.send(task);
        }
    }

    private void hear(Line line) {
        Share share = shares.get(line.from());
        if (share == null) {
            return;
        }
        if (line.text() == null) {
            bury(share);
            return;
        }
        String[] words = line.text().split(" ", 5);
        int task = Integer.parseInt(words[1]);
        if (!share.outstanding.remove(task)) {
            return; // answered before; its release failed
        }
        if (words[0].equals("failed")) {
            failures++;
            if (failures > MOST_FAILURES) {
                throw new Refusal(ExitCodes.FAILED, "the demo fails again and again: " + line.text());
            }
            pending.addFirst(line(task, "again"));
        } else {
            count(share, !words[2].equals("-"), Long.parseLong(words[4]));
        }
    }

    private void count(Share share, boolean success, long waitNanos) {
        answered++;
        share.waits.add(waitNanos);
        if (success) {
            got++;
            share.got++;
        } else {
            share.turnedAway++;
        }
    }

    private void bury(Share share) {
        share.dead = true;
        share.outstanding.forEach(task -> pending.addFirst(line(task, "again")));
        share.outstanding.clear();
        if (shares.values().stream().allMatch(each -> each.dead)) {
            throw new Refusal(ExitCodes.FAILED, "all processes of the demo have ended");
        }
    }
}
