package dev.lockstep.torture;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The work of one thread of a worker with locks. */
final class Turns implements Activity {
    private static final int ODDS_OF_REOPENING = 60;

    private static final int FIRST_LOOK_MILLIS = 2;
    private static final int LAST_LOOK_MILLIS = 250;

    private final Worker worker;
    private final Witness witness;
    private final Outcomes outcomes;
    private final Stay stay;
    private final int thread;
    private final long ttlNanos;
    private final long pauseNanos;
    private final boolean holdsLong;
    private Random random = new Random(0); // of this turn alone
    private Worker.Pace pace = Worker.Pace.REST; // when this turn began
    private int turnsInPace; // before this turn
    private int turn;

    Turns(Worker worker, int thread, Witness witness) {
        this.worker = worker;
        this.witness = witness;
        this.thread = thread;
        this.ttlNanos = worker.plan().ttl().toNanos();
        this.pauseNanos = worker.plan().pause().toNanos();
        this.holdsLong = worker.plan().settings().holdsLong(thread);
        this.outcomes = new Outcomes(worker, witness);
        this.stay = new Stay(worker, witness, holdsLong);
    }

    /** One turn: takes a lock in some way, or fails to, works inside, and releases it. */
    @Override
    public void next() {
        turn++;
        random = Seeds.of(worker.plan().seed(), worker.plan().client(), thread, turn);
        Locks locks = worker.locks();
        Worker.Pace now = worker.pace();
        turnsInPace = now == pace ? turnsInPace + 1 : 0;
        pace = now;
        outcomes.begin(pace);
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
        Parking.forNanos((long) (random.nextDouble() * (holdsLong ? Stay.WORK_NANOS : pauseNanos)));
    }

    /**
     * Each in turn. The threads of a worker begin at different locks, so that after a few turns it has had all. On a healthy
     * engine threads that hold long take a fair one every other time, where many wait and show that the order is kept.
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
        Way.Call call = call(locks, lock, section);
        Optional<Taken> taken = outcomes.attempt(locks, lock, way, call::drawn, () -> {
            DistributedLock target =
                    bounded ? locks.get(lock, shared, Duration.ofNanos(Stay.WORK_NANOS)) : locks.get(lock, shared);
            return way.take(target, call);
        });
        if (taken.isEmpty()) {
            witness.giveUp(section);
            return;
        }
        Lease lease = taken.get().lease();
        Witness.Seen seen = witness.enter(section, token(lease, lock));
        stay.work(random, lease, section);
        stay.step(section, shared, seen, lease);
        stay.work(random, lease, section);
        stay.leave(lease, bounded, section);
        outcomes.giveBack(locks, lock, taken.get());
    }

    private void takeTwo(Locks locks, int lock, Way way) {
        int other = Locks.partner(lock);
        int first = witness.ask(lock, false, false);
        int second = witness.ask(other, false, false);
        Way.Call call = call(locks, lock, first);
        Optional<Taken> taken = outcomes.attempt(locks, lock, way, call::drawn, () -> way.take(locks.both(lock), call));
        if (taken.isEmpty()) {
            witness.giveUp(first);
            witness.giveUp(second);
            return;
        }
        Lease lease = taken.get().lease();
        Witness.Seen seenFirst = witness.enter(first, token(lease, lock));
        Witness.Seen seenSecond = witness.enter(second, token(lease, other));
        stay.work(random, lease, first, second);
        stay.step(first, false, seenFirst, lease);
        stay.step(second, false, seenSecond, lease);
        stay.work(random, lease, first, second);
        stay.leave(lease, false, first, second);
        outcomes.giveBack(locks, lock, taken.get());
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
    private boolean isQueued(Locks locks, int lock) {
        try {
            String me = Thread.currentThread().getName();
            return locks.client().inspect(Locks.name(lock)).waiters().stream()
                    .anyMatch(waiter -> waiter.owner().threadName().equals(Optional.of(me))
                            && waiter.holder().client().equals(locks.client().name()));
        } catch (LockUnavailableException e) {
            outcomes.judgeLook(locks, lock, e);
            return false; // this claim proves nothing about the order
        }
    }

    /** Connects again, and closes the old client with whatever other threads hold and wait for. */
    private void reopen(Locks old) {
        try {
            if (worker.reopen()) {
                witness.reopened();
            }
        } catch (RuntimeException e) {
            witness.complain(
                    Rule.OUTCOME,
                    -1,
                    "connecting again, or closing " + old.client().name() + ", threw " + e);
        }
    }

    @Override
    public void complain(Throwable failure) {
        outcomes.complain(failure);
    }
}
