package dev.lockstep.torture;

import dev.lockstep.torture.Witness.Seen;

/** The data that a lock protects: three counters, which trust the writers more or less. Guarded by the observer. */
final class Registers {
    private long naive;
    private long deadline;
    private long fenced;
    private long highestToken;
    private long naiveWrites;
    private long deadlineWrites;
    private long fencedWrites;
    private long refused;

    /** Reads. This raises the highest token seen, so that earlier holders cannot write after this read. */
    Seen read(long token) {
        boolean stale = token < highestToken;
        highestToken = Math.max(highestToken, token);
        return new Seen(naive, deadline, stale ? Seen.STALE : fenced);
    }

    void write(Seen seen, boolean valid, long token) {
        naive = seen.naive() + 1;
        naiveWrites++;
        if (valid) {
            deadline = seen.deadline() + 1;
            deadlineWrites++;
        }
        if (token == 0) {
            return;
        }
        if (seen.fenced() == Seen.STALE || token < highestToken) {
            refused++;
        } else {
            fenced = seen.fenced() + 1;
            fencedWrites++;
        }
    }

    long naiveLost() {
        return naiveWrites - naive;
    }

    long deadlineLost() {
        return deadlineWrites - deadline;
    }

    long fencedLost() {
        return fencedWrites - fenced;
    }

    long refused() {
        return refused;
    }

    long writes() {
        return naiveWrites;
    }
}
