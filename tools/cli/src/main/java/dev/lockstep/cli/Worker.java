package dev.lockstep.cli;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Performs the tasks of a demo, on several threads, each with a connection of its own to the ledger. */
final class Worker {
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);
    private static final int LONGEST_THOUGHT_MICROS = 1_000;

    private final LockClient client;
    private final String lockName;
    private final Path file;
    private final long seed;
    private final PrintWriter out;
    private final ThreadLocal<@Nullable Ledger> ledgers = new ThreadLocal<>();
    private volatile @Nullable Lease lease;

    Worker(LockClient client, String lockName, Path file, long seed, PrintWriter out) {
        this.client = client;
        this.lockName = lockName;
        this.file = file;
        this.seed = seed;
        this.out = out;
    }

    /** Performs a task, and answers it. */
    void perform(String[] task) {
        try {
            switch (task[0]) {
                case "acquire" -> acquire();
                case "write" -> write(Integer.parseInt(task[1]));
                default ->
                    new Turn(Job.valueOf(task[0]), Integer.parseInt(task[1]), task[3].equals("again"))
                            .take(task[2].equals("locked"));
            }
        } catch (Exception e) {
            String why = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
            out.println("failed " + (task.length > 1 ? task[1] : "0") + " " + why);
        }
    }

    private void acquire() throws InterruptedException {
        Lease granted = client.lock(lockName).acquire();
        lease = granted;
        out.println("granted " + granted.token());
        granted.onLost(reason -> out.println("lost " + reason));
    }

    /** Writes with the token of its lease, even if the lease is lost. */
    private void write(int number) throws SQLException {
        Lease held = lease;
        if (held == null) {
            throw new IllegalStateException("no lease");
        }
        boolean written = ledger().write(0, number, held.token());
        out.println((written ? "written " : "refused ") + number);
    }

    private Ledger ledger() throws SQLException {
        Ledger ledger = ledgers.get();
        if (ledger == null) {
            ledger = Ledger.open(file);
            ledgers.set(ledger);
        }
        return ledger;
    }

    /** One turn of a job: read, think, write. */
    private final class Turn {
        private final Job job;
        private final int id;
        private final boolean again;
        private final long start = System.nanoTime();
        private long waited;

        Turn(Job job, int id, boolean again) {
            this.job = job;
            this.id = id;
            this.again = again;
        }

        /** The ledger checks tokens, so an accepted write is final, whatever happens to the lock afterwards. */
        void take(boolean locked) throws Exception {
            if (!locked) {
                run(null);
            } else {
                client.template().waitAtMost(LONGEST_WAIT).fenced().execute(lockName, held -> {
                    run(held);
                    return id;
                });
            }
        }

        private void run(@Nullable Lease held) throws SQLException {
            waited = System.nanoTime() - start;
            Ledger ledger = ledger();
            OptionalInt before = again ? ledger.writtenBy(id) : OptionalInt.empty();
            if (before.isPresent()) {
                answer(before, held);
                return;
            }
            OptionalInt next = job.next(ledger.read());
            if (next.isPresent()) {
                think();
                Long token = held == null ? null : held.token();
                if (!ledger.write(id, next.getAsInt(), token)) {
                    throw new IllegalStateException("stale token " + token);
                }
            }
            answer(next, held);
        }

        /** Simulates the time in which a buyer looks for a credit card. */
        private void think() {
            int micros = new Random(seed * 31 + id).nextInt(LONGEST_THOUGHT_MICROS);
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(micros));
        }

        private void answer(OptionalInt number, @Nullable Lease held) {
            out.println("done " + id + " " + (number.isPresent() ? number.getAsInt() : "-") + " "
                    + (held == null ? "-" : held.token()) + " " + waited);
        }
    }
}
