package dev.lockstep.torture;

import dev.lockstep.DeadlockException;
import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The work of one thread of a worker that causes deadlocks: most turns take two locks, one inside the other, in any
 * order; others hold one for long. Where the engine stores what holders wait for, one of the calls in a cycle fails;
 * elsewhere an interrupt ends it. Only these threads take two of these locks.
 */
final class CrossTurns implements Activity {
    private static final int FIRST = 4;
    private static final int LAST = 9;
    private static final int ODDS_OF_LONG_WORK = 4;
    private static final long BETWEEN_NANOS = Duration.ofMillis(30).toNanos();
    private static final Duration NOT_NOW = Duration.ofMillis(5);

    /** A call of a thread that holds another lock. */
    private static final Ending INSIDE = new Ending() {
        @Override
        public boolean mayEndWith(@Nullable Throwable failure) {
            return failure instanceof InterruptedException;
        }

        @Override
        public String toString() {
            return "LOCK_INSIDE";
        }
    };

    private final Worker worker;
    private final Witness witness;
    private final Outcomes outcomes;
    private final Stay stay;
    private final int thread;
    private final int[] locks;
    private final long ttlNanos;
    private Random random = new Random(0); // of this turn alone
    private int turn;

    CrossTurns(Worker worker, int thread, Witness witness) {
        this.worker = worker;
        this.witness = witness;
        this.thread = thread;
        this.locks = locks(worker.plan().locks());
        this.ttlNanos = worker.plan().ttl().toNanos();
        this.outcomes = new Outcomes(worker, witness);
        this.stay = new Stay(worker, witness, false);
    }

    /** The fair and the sticky ones of the first locks that are held briefly: multi-locks have none of these. */
    private static int[] locks(int count) {
        return IntStream.rangeClosed(FIRST, Math.min(LAST, count - 1))
                .filter(lock -> lock % FIRST == 1 || lock % FIRST == 2)
                .toArray();
    }

    /** Whether there are enough locks for it. */
    static boolean canBeIn(int count) {
        return locks(count).length > 1;
    }

    @Override
    public void next() {
        if (worker.pace() != Worker.Pace.WILD) {
            Parking.forTime(NOT_NOW);
            return;
        }
        turn++;
        random = Seeds.of(worker.plan().seed(), worker.plan().client(), thread, turn);
        outcomes.begin(worker.pace());
        int first = random.nextInt(locks.length);
        int second = (first + 1 + random.nextInt(locks.length - 1)) % locks.length;
        take(worker.locks(), locks[first], locks[second]);
        Parking.forNanos((long) (random.nextDouble() * BETWEEN_NANOS));
    }

    private void take(Locks from, int first, int second) {
        int outer = witness.ask(first, false, from.isFair(first));
        Optional<Taken> held = attempt(from, first, () -> lock(from, first));
        if (held.isEmpty()) {
            witness.giveUp(outer);
            return;
        }
        Lease lease = held.get().lease();
        Witness.Seen seen = witness.enter(outer, token(lease));
        if (random.nextInt(ODDS_OF_LONG_WORK) == 0) { // so that others wait for long, and in no cycle
            Parking.forNanos((long) ((0.5 + random.nextDouble()) * ttlNanos));
        } else {
            Parking.forNanos((long) (random.nextDouble() * BETWEEN_NANOS));
            takeInside(from, second, outer);
        }
        stay.step(outer, false, seen, lease);
        stay.leave(lease, false, outer);
        outcomes.giveBack(from, first, held.get());
    }

    private void takeInside(Locks from, int lock, int outer) {
        int inner = witness.ask(lock, false, from.isFair(lock));
        witness.inside(inner, outer);
        Optional<Taken> taken = attempt(from, lock, () -> {
            try {
                return lock(from, lock);
            } catch (DeadlockException e) {
                witness.victim(inner);
                return Optional.empty();
            }
        });
        if (taken.isEmpty()) {
            witness.giveUp(inner);
            return;
        }
        Lease lease = taken.get().lease();
        Witness.Seen seen = witness.enter(inner, token(lease));
        stay.step(inner, false, seen, lease);
        stay.leave(lease, false, inner);
        outcomes.giveBack(from, lock, taken.get());
    }

    private Optional<Taken> attempt(Locks from, int lock, Outcomes.Attempt<Taken> attempt) {
        return outcomes.attempt(from, lock, INSIDE, null, attempt);
    }

    /** An interrupt is no deadline: as far as the client knows, the call would wait indefinitely. */
    private Optional<Taken> lock(Locks from, int lock) throws InterruptedException {
        DistributedLock target = from.get(lock, false);
        try (Interrupter interrupter = new Interrupter(worker.timer(), 4 * ttlNanos)) {
            target.lockInterruptibly();
        }
        return Taken.again(target);
    }

    private static long token(Lease lease) {
        try {
            return lease.token();
        } catch (LockLostException e) {
            return 0;
        }
    }

    @Override
    public void complain(Throwable failure) {
        outcomes.complain(failure);
    }
}
