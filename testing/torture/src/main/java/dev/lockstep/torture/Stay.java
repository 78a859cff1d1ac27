package dev.lockstep.torture;

import dev.lockstep.Lease;
import java.util.Random;

/**
 * The work of a thread while it is inside: it works, looks at its lease, writes to the registers and leaves. For one
 * thread.
 */
final class Stay {
    static final long WORK_NANOS = 1_000_000;
    static final int LOOKS_IN_A_TTL = 8;

    private static final int ODDS_OF_LONG_WORK = 15;
    private static final int ODDS_OF_LONGEST_WORK = 30;
    private static final int ODDS_OF_BRIEF_WORK = 10;

    private final Worker worker;
    private final Witness witness;
    private final long ttlNanos;
    private final boolean holdsLong;

    /**
     * Makes one.
     *
     * @param holdsLong whether the thread sometimes stays for longer than the ttl
     */
    Stay(Worker worker, Witness witness, boolean holdsLong) {
        this.worker = worker;
        this.witness = witness;
        this.ttlNanos = worker.plan().ttl().toNanos();
        this.holdsLong = holdsLong;
    }

    /** Works, and looks now and then whether the lease is still valid, so that it is known until when it was. */
    void work(Random random, Lease lease, int... sections) {
        if (!holdsLong) {
            workBriefly(random);
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
    private static void workBriefly(Random random) {
        if (random.nextInt(ODDS_OF_BRIEF_WORK) == 0) {
            Parking.forNanos((long) (random.nextDouble() * WORK_NANOS));
        }
    }

    void step(int section, boolean shared, Witness.Seen seen, Lease lease) {
        if (shared) {
            witness.look(section, lease.isValid());
        } else {
            witness.write(section, seen, lease.isValid());
        }
    }

    void leave(Lease lease, boolean bounded, int... sections) {
        for (int section : sections) {
            if (!bounded && !lease.isValid()) {
                witness.ended(section);
            }
            witness.exit(section, lease.isValid());
        }
    }
}
