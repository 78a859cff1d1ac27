package dev.lockstep;

import java.time.Instant;
import java.util.Objects;

/** The data of a {@link LockInfo.Wait}, whose methods document the components. */
record WaitFacts(String lock, LockMode mode, String thread, Instant since, boolean bounded) {
    WaitFacts {
        Objects.requireNonNull(lock, "lock");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(thread, "thread");
        Objects.requireNonNull(since, "since");
    }

    @Override
    public String toString() {
        return "Wait[lock=" + lock + ", mode=" + mode + ", thread=" + thread + ", since=" + since
                + (bounded ? ", bounded" : "") + "]";
    }
}
