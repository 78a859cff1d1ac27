package dev.lockstep.torture;

import dev.lockstep.LeaderElection;
import dev.lockstep.Term;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/*
 * Overview. A turn is one candidacy: it stands, leads any number of terms, perhaps resigns, and closes. A term is a section of
 * the election's lock. Its call begins when the candidate stands, or when the task of the term before returns. The witness is
 * used by this thread and by the tasks, one after the other: a task asks for the next term before it returns, and this thread
 * continues only when no task runs and none can begin.
 */
/** The work of one thread of a worker with an election. */
final class TermTurns implements Activity {
    private static final int ODDS_OF_LONGEST_WORK = 5;
    private static final int TTLS_OF_A_CANDIDACY = 6;

    /** Makes a candidate. The one before may not have left the engine yet: then there cannot be another. */
    private static final Ending STAND = new Ending() {
        @Override
        public boolean mayEndWith(@Nullable Throwable failure) {
            return failure instanceof IllegalStateException;
        }

        @Override
        public String toString() {
            return "ELECTION";
        }
    };

    private final Worker worker;
    private final Witness witness;
    private final Outcomes outcomes;
    private final int thread;
    private final int lock;
    private final long ttlNanos;
    private int turn;

    TermTurns(Worker worker, int thread, Witness witness) {
        this.worker = worker;
        this.witness = witness;
        this.thread = thread;
        this.lock = worker.plan().resources().election();
        this.ttlNanos = worker.plan().ttl().toNanos();
        this.outcomes = new Outcomes(worker, witness);
    }

    @Override
    public void next() {
        turn++;
        Random random = Seeds.of(worker.plan().seed(), worker.plan().client(), thread, turn);
        Locks locks = worker.locks();
        outcomes.begin(worker.pace());
        Candidacy candidacy = new Candidacy(random.nextLong());
        Optional<LeaderElection> election = outcomes.attempt(
                locks,
                lock,
                STAND,
                null,
                () -> Optional.of(locks.client().election(Locks.name(lock), "" + turn, candidacy::lead)));
        election.ifPresent(candidate -> {
            candidacy.await(locks, random);
            if (random.nextBoolean()) {
                candidate.resign();
                candidacy.await(locks, random);
            }
            outcomes.attempt(locks, lock, STAND, null, () -> {
                candidate.close();
                return Optional.of(candidate);
            });
        });
        candidacy.end();
        Parking.forNanos((long) (random.nextDouble() * Stay.WORK_NANOS));
    }

    @Override
    public void complain(Throwable failure) {
        outcomes.complain(failure);
    }

    /** One candidacy and the tasks of its terms, of which one runs at a time. */
    private final class Candidacy {
        private final Random random; // of the tasks
        private int section = witness.ask(lock, false, false);
        private boolean running; // guarded by this
        private boolean over; // guarded by this

        Candidacy(long seed) {
            random = new Random(seed);
        }

        /** Lets it be a candidate for a while, or until its client is closed or all rest. */
        void await(Locks locks, Random length) {
            Duration most = Duration.ofNanos((long) (ttlNanos * TTLS_OF_A_CANDIDACY * length.nextDouble()));
            Parking.until(
                    () -> worker.pace() == Worker.Pace.REST || worker.locks() != locks || worker.isClosed(), most);
        }

        /** Waits for its task, and lets no other begin. */
        void end() {
            synchronized (this) {
                over = true;
            }
            Parking.until(() -> !isRunning(), Duration.ofDays(1)); // for as long as the observer is there
            witness.giveUp(section);
        }

        private synchronized boolean isRunning() {
            return running;
        }

        private synchronized boolean begin() {
            if (running) {
                outcomes.complain(new IllegalStateException("a candidate runs two tasks at once"));
            }
            boolean begins = !over && !running;
            running = running || begins;
            return begins;
        }

        /** The task of a term. */
        void lead(Term term) {
            if (!begin()) {
                return;
            }
            try {
                Witness.Seen seen = witness.enter(section, term.token());
                boolean interrupted = work(term);
                witness.write(section, seen, term.isValid());
                interrupted |= work(term);
                leave(term, interrupted);
                section = witness.ask(lock, false, false);
            } finally {
                synchronized (this) {
                    running = false;
                }
            }
        }

        /** Works, mostly briefly, and true if it was interrupted. One task in two continues all the same. */
        private boolean work(Term term) {
            boolean wild = worker.pace() == Worker.Pace.WILD;
            boolean longest = random.nextInt(ODDS_OF_LONGEST_WORK) == 0 && wild;
            boolean stubborn = random.nextBoolean();
            double part = random.nextDouble();
            long look = ttlNanos / Stay.LOOKS_IN_A_TTL;
            long left = (long) (longest ? ttlNanos * (0.7 + part) : 10 * Stay.WORK_NANOS * part);
            boolean interrupted = false;
            for (; left > 0 && (stubborn || !interrupted); left -= look) {
                Parking.forNanos(Math.min(left, look));
                witness.look(section, term.isValid());
                interrupted |= Thread.interrupted();
            }
            return interrupted;
        }

        private void leave(Term term, boolean interrupted) {
            boolean valid = term.isValid();
            if (!valid) {
                witness.ended(section);
            }
            witness.exit(section, valid);
            if (!valid && !interrupted && !Stalls.untilAwake(Thread::interrupted, Outcomes.PATIENCE)) {
                witness.complain(Rule.LOSS, lock, "a term was lost, and its task was not interrupted");
            }
        }
    }
}
