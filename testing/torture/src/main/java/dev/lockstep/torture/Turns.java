package dev.lockstep.torture;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostException;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** What one thread of a worker does, turn by turn, as its seed says. For one thread. */
final class Turns {
    private static final int ODDS_OF_REOPENING = 400;
    private static final int ODDS_OF_LONG_WORK = 15;
    private static final long WORK_NANOS = 1_000_000;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Worker worker;
    private final Witness witness;
    private final int thread;
    private final long ttlNanos;
    private Random random = new Random(0); // of this turn alone
    private int turn;

    Turns(Worker worker, int thread, Witness witness) {
        this.worker = worker;
        this.witness = witness;
        this.thread = thread;
        this.ttlNanos = worker.plan().ttl().toNanos();
    }

    /** One turn: takes a lock in some way, or fails to, works inside, and gives it back. */
    void next() {
        turn++;
        random = Seeds.of(worker.plan().seed(), worker.plan().client(), thread, turn);
        Locks locks = worker.locks();
        boolean calm = worker.pace() == Worker.Pace.CALM;
        if (thread == 0 && !calm && random.nextInt(ODDS_OF_REOPENING) == 0) {
            worker.reopen();
            return;
        }
        int count = worker.plan().locks();
        int lock = calm ? calmLock(locks, count) : random.nextInt(count);
        boolean shared = locks.hasShared() && random.nextInt(3) == 0;
        Way way = calm ? Way.ASYNC : Way.values()[random.nextInt(Way.values().length)];
        boolean both = !calm && Locks.canBeTakenTogether(lock, count) && random.nextInt(4) == 0;
        Thread.currentThread().setName("torture-" + worker.plan().client() + "-" + thread + "-" + turn);
        if (both) {
            takeTwo(locks, lock, way);
        } else {
            takeOne(locks, lock, shared, way);
        }
        Parking.forNanos((long) (random.nextDouble() * WORK_NANOS));
    }

    /** Each in turn; every other time a fair one, where those who wait show that the order is kept. */
    private int calmLock(Locks locks, int count) {
        int each = turn / 2 % count;
        return turn % 2 == 0 && count > 1 && locks.isFair(1) ? 1 : each;
    }

    private void takeOne(Locks locks, int lock, boolean shared, Way way) {
        int section = witness.ask(lock, shared, locks.isFair(lock));
        Optional<Taken> taken = attempt(locks, lock, () -> {
            DistributedLock target = random.nextInt(20) == 0
                    ? locks.get(lock, shared, Duration.ofNanos(WORK_NANOS))
                    : locks.get(lock, shared);
            return way.take(target, call(locks, lock, section));
        });
        if (taken.isEmpty()) {
            witness.giveUp(section);
            return;
        }
        Lease lease = taken.get().lease();
        Witness.Seen seen = witness.enter(section, token(lease, lock));
        work();
        step(section, shared, seen, lease);
        work();
        witness.exit(section, lease.isValid());
        giveBack(locks, lock, taken.get());
    }

    private void takeTwo(Locks locks, int lock, Way way) {
        int other = Locks.partner(lock);
        int first = witness.ask(lock, false, false);
        int second = witness.ask(other, false, false);
        Optional<Taken> taken = attempt(locks, lock, () -> way.take(locks.both(lock), call(locks, lock, first)));
        if (taken.isEmpty()) {
            witness.giveUp(first);
            witness.giveUp(second);
            return;
        }
        Lease lease = taken.get().lease();
        Witness.Seen seenFirst = witness.enter(first, token(lease, lock));
        Witness.Seen seenSecond = witness.enter(second, token(lease, other));
        work();
        step(first, false, seenFirst, lease);
        step(second, false, seenSecond, lease);
        work();
        witness.exit(first, lease.isValid());
        witness.exit(second, lease.isValid());
        giveBack(locks, lock, taken.get());
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
        boolean lost = attempt(locks, lock, () -> Optional.of(taken.giveBack())).orElse(true);
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

    /** Looks whether the engine has this thread's claim, whose name is that of this turn alone. */
    private void seeMyself(Locks locks, int lock, int section, CompletableFuture<Lease> future) {
        Parking.until(future::isDone, Duration.ofMillis(2));
        if (future.isDone()) {
            return;
        }
        try {
            LockInfo info = locks.client().inspect(Locks.name(lock));
            String me = Thread.currentThread().getName();
            if (info.waiters().stream()
                    .anyMatch(waiter -> waiter.holder().thread().equals(me)
                            && waiter.holder().client().equals(locks.client().name()))) {
                witness.queued(section);
            }
        } catch (LockUnavailableException e) {
            // Then this one proves nothing about the order.
        }
    }

    private void work() {
        boolean isLong = random.nextInt(ODDS_OF_LONG_WORK) == 0;
        Parking.forNanos((long) (random.nextDouble() * (isLong ? ttlNanos / 4 : WORK_NANOS)));
    }

    /** What a turn does with a lock. */
    private interface Attempt<T> {
        Optional<T> run() throws InterruptedException, ExecutionException;
    }

    /** Runs it; empty if it did not succeed in one of the ways in which that may be. */
    private <T> Optional<T> attempt(Locks locks, int lock, Attempt<T> attempt) {
        try {
            return attempt.run();
        } catch (InterruptedException e) {
            return Optional.empty();
        } catch (ExecutionException e) {
            judge(locks, lock, e.getCause());
        } catch (RuntimeException e) {
            judge(locks, lock, e);
        }
        return Optional.empty();
    }

    private void judge(Locks locks, int lock, @Nullable Throwable failure) {
        boolean allowed = failure instanceof LockUnavailableException
                || failure instanceof LockLostException
                || failure instanceof LockTimeoutException
                || failure instanceof CancellationException;
        boolean closed = failure instanceof IllegalStateException && worker.locks() != locks;
        if (!allowed && !closed) {
            witness.complain(Rule.OUTCOME, lock, "a call threw " + failure);
        }
    }
}
