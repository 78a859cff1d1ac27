package dev.lockstep.torture;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What one thread of a worker does, turn by turn, as its seed says. For one thread. */
final class Turns {
    private static final int ODDS_OF_REOPENING = 60;
    private static final int ODDS_OF_LONG_WORK = 15;
    private static final int ODDS_OF_LONGEST_WORK = 30;
    private static final int ODDS_OF_BRIEF_WORK = 10;
    private static final long WORK_NANOS = 1_000_000;
    private static final int LOOKS_IN_A_TTL = 8;

    /** To run the action of a loss takes a thread of the client's; those may all be busy with other losses. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int FIRST_LOOK_MILLIS = 2;
    private static final int LAST_LOOK_MILLIS = 250;

    /** A round trip after the deadline, one to give a first lock of two back, and some for a busy machine. */
    private static final Duration LATE = Duration.ofSeconds(7);

    private final Worker worker;
    private final Witness witness;
    private final int thread;
    private final long ttlNanos;
    private final long pauseNanos;
    private final boolean holdsLong;
    private Random random = new Random(0); // of this turn alone
    private Worker.Pace pace = Worker.Pace.REST; // when this turn began
    private int turnsInPace; // before this turn
    private long stalledBefore; // when this turn began
    private int turn;

    Turns(Worker worker, int thread, Witness witness) {
        this.worker = worker;
        this.witness = witness;
        this.thread = thread;
        this.ttlNanos = worker.plan().ttl().toNanos();
        this.pauseNanos = worker.plan().pause().toNanos();
        this.holdsLong = worker.plan().settings().holdsLong(thread);
    }

    /** One turn: takes a lock in some way, or fails to, works inside, and gives it back. */
    void next() {
        turn++;
        random = Seeds.of(worker.plan().seed(), worker.plan().client(), thread, turn);
        Locks locks = worker.locks();
        Worker.Pace now = worker.pace();
        turnsInPace = now == pace ? turnsInPace + 1 : 0;
        pace = now;
        stalledBefore = Stalls.nanos();
        boolean calm = pace != Worker.Pace.WILD;
        if (thread == 0 && !calm && random.nextInt(ODDS_OF_REOPENING) == 0) {
            reopen(locks);
            return;
        }
        int count = worker.plan().locks();
        int lock = calm ? calmLock(locks, count) : worker.plan().settings().draw(thread, random);
        boolean shared = locks.hasShared() && random.nextInt(3) == 0;
        Way way = calm ? Way.ASYNC : Way.values()[random.nextInt(Way.values().length)];
        boolean both = !calm && Locks.canBeTakenTogether(lock, count) && random.nextInt(4) == 0;
        if (locks.isFair(lock)) { // the engine knows a claim by the name of its thread
            Thread.currentThread().setName("torture-" + worker.plan().client() + "-" + thread + "-" + turn);
        }
        if (both) {
            takeTwo(locks, lock, way);
        } else {
            takeOne(locks, lock, shared, way);
        }
        Parking.forNanos((long) (random.nextDouble() * (holdsLong ? WORK_NANOS : pauseNanos)));
    }

    /**
     * Each in turn. The threads of a worker begin at different locks, so that after a few turns it has had all. On a healthy
     * engine those who hold long take a fair one every other time, where many wait and show that the order is kept.
     */
    private int calmLock(Locks locks, int count) {
        boolean together = pace == Worker.Pace.CALM && thread < Settings.LONG_THREADS && turnsInPace % 2 == 0;
        if (together && count > 1 && locks.isFair(1)) {
            return 1;
        }
        return (thread * count / worker.plan().threads() + turnsInPace) % count;
    }

    private void takeOne(Locks locks, int lock, boolean shared, Way way) {
        int section = witness.ask(lock, shared, locks.isFair(lock));
        boolean bounded = random.nextInt(20) == 0;
        Optional<Taken> taken = attempt(locks, lock, way, () -> {
            DistributedLock target =
                    bounded ? locks.get(lock, shared, Duration.ofNanos(WORK_NANOS)) : locks.get(lock, shared);
            return take(target, way, call(locks, lock, section), lock);
        });
        if (taken.isEmpty()) {
            witness.giveUp(section);
            return;
        }
        Lease lease = taken.get().lease();
        Witness.Seen seen = witness.enter(section, token(lease, lock));
        work(lease, section);
        step(section, shared, seen, lease);
        work(lease, section);
        leave(lease, bounded, section);
        giveBack(locks, lock, taken.get());
    }

    private void takeTwo(Locks locks, int lock, Way way) {
        int other = Locks.partner(lock);
        int first = witness.ask(lock, false, false);
        int second = witness.ask(other, false, false);
        Optional<Taken> taken =
                attempt(locks, lock, way, () -> take(locks.both(lock), way, call(locks, lock, first), lock));
        if (taken.isEmpty()) {
            witness.giveUp(first);
            witness.giveUp(second);
            return;
        }
        Lease lease = taken.get().lease();
        Witness.Seen seenFirst = witness.enter(first, token(lease, lock));
        Witness.Seen seenSecond = witness.enter(second, token(lease, other));
        work(lease, first, second);
        step(first, false, seenFirst, lease);
        step(second, false, seenSecond, lease);
        work(lease, first, second);
        leave(lease, false, first, second);
        giveBack(locks, lock, taken.get());
    }

    /** Takes a lock, and complains of a call with a deadline that came back long after it. */
    private Optional<Taken> take(DistributedLock target, Way way, Way.Call call, int lock)
            throws InterruptedException, ExecutionException {
        long start = System.nanoTime() - Stalls.nanos();
        try {
            return way.take(target, call);
        } finally {
            long late = System.nanoTime() - Stalls.nanos() - start - call.drawn();
            if (way.isTimed() && late > LATE.toNanos()) {
                witness.complain(Rule.OUTCOME, lock, way + " came back " + late / 1_000_000 + " ms after its deadline");
            }
        }
    }

    private void leave(Lease lease, boolean bounded, int... sections) {
        for (int section : sections) {
            if (!bounded && !lease.isValid()) {
                witness.ended(section);
            }
            witness.exit(section, lease.isValid());
        }
    }

    private void step(int section, boolean shared, Witness.Seen seen, Lease lease) {
        if (shared) {
            witness.look(section, lease.isValid());
        } else {
            witness.write(section, seen, lease.isValid());
        }
    }

    private void giveBack(Locks locks, int lock, Taken taken) {
        boolean invalid = !taken.lease().isValid();
        boolean lost = attempt(locks, lock, null, () -> Optional.of(taken.giveBack(e -> judge(locks, lock, null, e))))
                .orElse(true);
        if (invalid && !lost) {
            witness.complain(Rule.LOSS, lock, "a hold that was not valid was given back as if it had been");
        }
        if (invalid && !Stalls.untilAwake(() -> taken.wasToldOfLoss() || worker.locks() != locks, PATIENCE)) {
            witness.complain(Rule.LOSS, lock, "a hold was lost, and the action to be told of it did not run");
        }
    }

    private static long token(Lease lease, int lock) {
        try {
            return lease.token(Locks.name(lock));
        } catch (LockLostException e) {
            return 0;
        }
    }

    private Way.Call call(Locks locks, int lock, int section) {
        return new Way.Call(random, worker.timer(), ttlNanos / 2, future -> {
            if (locks.isFair(lock)) {
                seeMyself(locks, lock, section, future);
            }
        });
    }

    /** Looks whether the engine has this thread's claim, at first soon, and then again for as long as it waits. */
    private void seeMyself(Locks locks, int lock, int section, CompletableFuture<Lease> future) {
        for (int pause = FIRST_LOOK_MILLIS; pause <= LAST_LOOK_MILLIS; pause *= 5) {
            if (isDoneWithin(pause, future)) {
                return;
            }
            if (isQueued(locks, lock)) {
                witness.queued(section);
                return;
            }
        }
    }

    private static boolean isDoneWithin(int millis, CompletableFuture<Lease> future) {
        try {
            future.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException | CancellationException e) {
            return true; // the caller sees how it ended
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Whether the engine has this thread's claim, whose name is that of this turn alone. */
    private static boolean isQueued(Locks locks, int lock) {
        try {
            String me = Thread.currentThread().getName();
            return locks.client().inspect(Locks.name(lock)).waiters().stream()
                    .anyMatch(waiter -> waiter.holder().thread().equals(me)
                            && waiter.holder().client().equals(locks.client().name()));
        } catch (LockUnavailableException e) {
            return false; // then this one proves nothing about the order
        }
    }

    /** Works, and looks now and then whether the lease is still valid, so that it is known until when it was. */
    private void work(Lease lease, int... sections) {
        if (!holdsLong) {
            workBriefly();
            return;
        }
        boolean longest = random.nextInt(ODDS_OF_LONGEST_WORK) == 0;
        boolean isLong = random.nextInt(ODDS_OF_LONG_WORK) == 0;
        double part = random.nextDouble();
        long look = ttlNanos / LOOKS_IN_A_TTL;
        long left = longest ? (long) (ttlNanos * (0.7 + part)) : (long) (part * (isLong ? ttlNanos / 4 : WORK_NANOS));
        boolean goesOn = true;
        while (goesOn) {
            Parking.forNanos(Math.min(left, look));
            for (int section : sections) {
                witness.look(section, lease.isValid());
            }
            left -= look;
            goesOn = left > 0 && worker.pace() == Worker.Pace.WILD;
        }
    }

    /** Mostly no longer than it takes to write into the register. To write and to leave are looks, too. */
    private void workBriefly() {
        if (random.nextInt(ODDS_OF_BRIEF_WORK) == 0) {
            Parking.forNanos((long) (random.nextDouble() * WORK_NANOS));
        }
    }

    /** Connects anew, and closes the old client with whatever other threads hold and wait for. */
    private void reopen(Locks old) {
        try {
            if (worker.reopen()) {
                witness.reopened();
            }
        } catch (RuntimeException e) {
            witness.complain(
                    Rule.OUTCOME,
                    -1,
                    "connecting anew, or closing " + old.client().name() + ", threw " + e);
        }
    }

    /** What a turn does with a lock. */
    private interface Attempt<T> {
        Optional<T> run() throws InterruptedException, ExecutionException;
    }

    /** Runs it; empty if it did not succeed in one of the ways in which that may be. */
    private <T> Optional<T> attempt(Locks locks, int lock, @Nullable Way way, Attempt<T> attempt) {
        try {
            return attempt.run();
        } catch (InterruptedException e) {
            judge(locks, lock, way, e);
        } catch (ExecutionException e) {
            judge(locks, lock, way, e.getCause());
        } catch (RuntimeException e) {
            judge(locks, lock, way, e);
        }
        return Optional.empty();
    }

    /**
     * Complains of a failure that the contract does not name.
     *
     * @param way by which a lock was to be taken; null if it was given back
     */
    private void judge(Locks locks, int lock, @Nullable Way way, @Nullable Throwable failure) {
        boolean unavailable = way == null
                ? failure instanceof ReleaseNotConfirmedException
                : failure instanceof LockUnavailableException;
        boolean allowed = (unavailable && mayBeUnavailable())
                || (way == null ? failure instanceof LockLostException : way.mayEndWith(failure));
        boolean closed = (unavailable || failure instanceof IllegalStateException)
                && (worker.locks() != locks || worker.isClosed());
        if (!allowed && !closed) {
            String when = pace == Worker.Pace.CALM ? " on a healthy engine" : "";
            witness.complain(Rule.OUTCOME, lock, (way == null ? "giving back" : way) + " threw " + failure + when);
        }
    }

    /**
     * Whether a call of this turn may end with the word that the engine is not available: not if it is healthy. A worker that
     * stood still meanwhile proves nothing: it could not read the answer, and the time in which it must come went on.
     */
    private boolean mayBeUnavailable() {
        return pace != Worker.Pace.CALM
                || Stalls.nanos() - stalledBefore
                        >= Run.stallThatCounts(worker.plan().ttl());
    }

    /** Tells of what ended a turn that nothing may end. */
    void complain(Throwable failure) {
        witness.complain(Rule.OUTCOME, -1, "a turn ended with " + failure);
    }
}
