package dev.lockstep.torture;

import dev.lockstep.LockLostException;
import dev.lockstep.Permit;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The work of one thread of a worker with permits. Each turn acquires one or more in some way. Every other turn asks
 * for their slots, and is then inside of each slot as of an exclusive lock: it writes to the slot's registers with the
 * permit's token.
 */
final class PermitTurns implements Activity {
    private static final int ODDS_OF_MANY = 4;

    /** Asks a permit for its slots. */
    private static final Ending SLOTS = new Ending() {
        @Override
        public boolean mayEndWith(@Nullable Throwable failure) {
            return failure instanceof LockLostException;
        }

        @Override
        public String toString() {
            return "SLOTS";
        }
    };

    private final Worker worker;
    private final Witness witness;
    private final Outcomes outcomes;
    private final Stay stay;
    private final int thread;
    private final Resources resources;
    private final long ttlNanos;
    private int turn;

    PermitTurns(Worker worker, int thread, Witness witness) {
        this.worker = worker;
        this.witness = witness;
        this.thread = thread;
        this.resources = worker.plan().resources();
        this.ttlNanos = worker.plan().ttl().toNanos();
        this.outcomes = new Outcomes(worker, witness);
        this.stay = new Stay(worker, witness, true);
    }

    @Override
    public void next() {
        turn++;
        Random random = Seeds.of(worker.plan().seed(), worker.plan().client(), thread, turn);
        Locks locks = worker.locks();
        Worker.Pace pace = worker.pace();
        outcomes.begin(pace);
        boolean calm = pace != Worker.Pace.WILD;
        PermitWay way = calm ? PermitWay.ACQUIRE : PermitWay.values()[random.nextInt(PermitWay.values().length)];
        boolean many = random.nextInt(ODDS_OF_MANY) == 0 && way.takesMany();
        int permits = many ? 2 + random.nextInt(Resources.PERMITS - 1) : 1;
        take(locks, way, permits, random);
        Parking.forNanos((long) (random.nextDouble() * Stay.WORK_NANOS));
    }

    private void take(Locks locks, PermitWay way, int permits, Random random) {
        int semaphore = resources.semaphore();
        int section = witness.askPermits(semaphore, permits, Resources.PERMITS);
        Way.Call call = new Way.Call(random, worker.timer(), ttlNanos / 2, future -> {});
        Optional<Permit> taken = outcomes.attempt(
                locks,
                semaphore,
                way,
                call::drawn,
                () -> way.take(locks.client().semaphore(Locks.name(semaphore), Resources.PERMITS), permits, call));
        if (taken.isEmpty()) {
            witness.giveUp(section);
            return;
        }
        Permit permit = taken.get();
        Taken handle = Taken.by(permit);
        witness.enter(section, 0);
        if (random.nextBoolean()) {
            useSlots(locks, permit, permits, section, random);
        } else {
            stay.work(random, permit, section);
            stay.leave(permit, false, section);
        }
        outcomes.giveBack(locks, semaphore, handle);
    }

    private void useSlots(Locks locks, Permit permit, int permits, int section, Random random) {
        int semaphore = resources.semaphore();
        List<Integer> slots = outcomes.attempt(locks, semaphore, SLOTS, null, () -> Optional.of(permit.slots()))
                .orElse(List.of());
        long token = outcomes.attempt(locks, semaphore, SLOTS, null, () -> Optional.of(permit.token()))
                .orElse(0L);
        boolean usable = slots.stream().distinct().count() == permits
                && slots.stream().allMatch(slot -> slot >= 0 && slot < Resources.PERMITS);
        if (!usable && !slots.isEmpty()) {
            witness.complain(
                    Rule.PERMITS, semaphore, permits + " of " + Resources.PERMITS + " permits have slots " + slots);
        }
        int[] inside = usable
                ? slots.stream()
                        .mapToInt(slot -> witness.slot(section, resources.slot(slot)))
                        .toArray()
                : new int[0];
        Witness.Seen[] seen = IntStream.of(inside)
                .mapToObj(each -> witness.enter(each, token))
                .toArray(Witness.Seen[]::new);
        int[] all =
                IntStream.concat(IntStream.of(section), IntStream.of(inside)).toArray();
        stay.work(random, permit, all);
        for (int i = 0; i < inside.length; i++) {
            stay.step(inside[i], false, seen[i], permit);
        }
        stay.work(random, permit, all);
        stay.leave(permit, false, all);
    }

    @Override
    public void complain(Throwable failure) {
        outcomes.complain(failure);
    }
}
