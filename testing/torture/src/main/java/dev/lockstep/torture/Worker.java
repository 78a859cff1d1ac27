package dev.lockstep.torture;

import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A client and its threads, which take turns at locks, permits and terms until they are asked to rest. Thread-safe. */
final class Worker {
    /** How the threads go about it. */
    enum Pace {
        /** They do nothing. */
        REST,

        /** They do anything, as the seed says. */
        WILD,

        /** They wait for each lock in turn, as long as it takes. Calls may still fail because of the last fault. */
        RECOVERY,

        /** The same, on an engine that is healthy: a call that says that it is not available breaks a rule. */
        CALM
    }

    /**
     * The task of a worker.
     *
     * @param client its number; no two workers of a run have the same
     * @param settings of the run; their seed is this worker's own
     * @param ttl of its client
     * @param pause how long a thread that holds locks briefly may rest after each turn
     */
    record Plan(int client, Settings settings, Duration ttl, Duration pause) {
        int threads() {
            return settings.threads();
        }

        int locks() {
            return settings.locks();
        }

        Resources resources() {
            return new Resources(locks());
        }

        long seed() {
            return settings.seed();
        }
    }

    private static final int FIRST_TRIES = 20;
    private static final int FRAMES = 12;

    /** With three workers, twice as many threads as there are permits. */
    private static final int PERMIT_THREADS = 2;

    /** Threads that hold one lock and wait for another one. */
    private static final int CROSS_THREADS = 2;

    /** How soon such a wait is recorded: much sooner than by default, so that there are many deadlocks in a run. */
    static final Duration RECORD_WAITS_AFTER = Duration.ofMillis(100);

    private final Plan plan;
    private final Supplier<LockClient> connect;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "torture-timer");
        thread.setDaemon(true);
        return thread;
    });
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger busy = new AtomicInteger();
    private volatile Pace pace = Pace.REST;
    private volatile boolean closed;
    private volatile Locks locks;

    /** Connects, and starts the threads at rest. */
    Worker(Plan plan, Supplier<LockClient> connect, Supplier<Witness> witnesses) {
        this.plan = plan;
        this.connect = connect;
        this.locks = locks(patiently(connect));
        for (int i = 0; i < plan.threads(); i++) {
            add(new Turns(this, i, witnesses.get()));
        }
        for (int i = 0; i < PERMIT_THREADS && locks.hasSemaphores(); i++) {
            add(new PermitTurns(this, threads.size(), witnesses.get()));
        }
        add(new TermTurns(this, threads.size(), witnesses.get()));
        for (int i = 0; i < CROSS_THREADS && CrossTurns.canBeIn(plan.locks()); i++) {
            add(new CrossTurns(this, threads.size(), witnesses.get()));
        }
        threads.forEach(Thread::start);
    }

    private void add(Activity activity) {
        Thread thread = new Thread(() -> run(activity), "torture-" + plan.client() + "-" + threads.size());
        thread.setDaemon(true);
        threads.add(thread);
    }

    /** Connects. On a machine that is busy with starting processes, that can take longer than a request may. */
    static LockClient patiently(Supplier<LockClient> connect) {
        for (int tries = 1; ; tries++) {
            try {
                return connect.get();
            } catch (LockUnavailableException e) {
                if (tries == FIRST_TRIES) {
                    throw e;
                }
            }
        }
    }

    private Locks locks(LockClient client) {
        return Locks.of(client, plan.ttl().dividedBy(4));
    }

    Plan plan() {
        return plan;
    }

    ScheduledExecutorService timer() {
        return timer;
    }

    Locks locks() {
        return locks;
    }

    /** Whether its client was closed for good. */
    boolean isClosed() {
        return closed;
    }

    Pace pace() {
        return pace;
    }

    private void run(Activity activity) {
        while (!closed) {
            busy.incrementAndGet();
            boolean resting = pace == Pace.REST;
            try {
                if (!resting) {
                    activity.next();
                }
            } catch (UncheckedIOException e) {
                return; // the observer is gone
            } catch (RuntimeException | Error e) {
                activity.complain(e); // and continues: a missing thread shows nothing any more
            } finally {
                busy.decrementAndGet();
            }
            if (resting) {
                Parking.forTime(Duration.ofMillis(2));
            }
        }
    }

    void go(Pace newPace) {
        pace = newPace;
    }

    /** The current work of the threads: empty if all rest. */
    String calls() {
        return busy.get() == 0 ? "" : "in a call: " + whereTheyAre();
    }

    private String whereTheyAre() {
        return threads.stream()
                .map(thread -> Stream.of(thread.getStackTrace())
                        .filter(frame -> frame.getClassName().startsWith("dev.lockstep"))
                        .limit(FRAMES)
                        .map(frame -> frame.getClassName().replaceAll(".*\\.", "") + "." + frame.getMethodName() + ":"
                                + frame.getLineNumber())
                        .collect(Collectors.joining(" < ")))
                .filter(where -> !where.contains("Worker.run") || where.contains("Turns"))
                .collect(Collectors.joining("; "));
    }

    /** Connects again, and then closes the old client with whatever other threads hold and wait for; false if it cannot. */
    boolean reopen() {
        Locks old = locks;
        try {
            locks = locks(connect.get());
        } catch (LockUnavailableException e) {
            return false;
        }
        old.client().close();
        return true;
    }

    /** Ends the threads and closes the client. */
    void close() {
        closed = true;
        locks.client().close();
        timer.shutdownNow();
    }
}
