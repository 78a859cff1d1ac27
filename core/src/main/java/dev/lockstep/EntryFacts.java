package dev.lockstep;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** The data of a {@link LockInfo.Entry}, whose methods document the components. */
record EntryFacts(
        LockMode mode,
        HolderInfo holder,
        OptionalLong token,
        Optional<Duration> remaining,
        int permits,
        Optional<String> claim,
        Optional<LockInfo.Wait> waitsFor,
        Optional<Instant> granted) {
    EntryFacts {
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(holder, "holder");
    }

    static EntryFacts of(LockMode mode, HolderInfo holder) {
        return new EntryFacts(
                mode,
                holder,
                OptionalLong.empty(),
                Optional.empty(),
                1,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    EntryFacts withToken(long other) {
        return new EntryFacts(mode, holder, OptionalLong.of(other), remaining, permits, claim, waitsFor, granted);
    }

    EntryFacts withPermits(int other) {
        return new EntryFacts(mode, holder, token, remaining, other, claim, waitsFor, granted);
    }

    EntryFacts withRemaining(Duration other) {
        return new EntryFacts(mode, holder, token, Optional.of(other), permits, claim, waitsFor, granted);
    }

    EntryFacts withClaim(String other) {
        return new EntryFacts(mode, holder, token, remaining, permits, Optional.of(other), waitsFor, granted);
    }

    EntryFacts withWait(LockInfo.Wait other) {
        return new EntryFacts(mode, holder, token, remaining, permits, claim, Optional.of(other), granted);
    }

    EntryFacts withGranted(Instant other) {
        return new EntryFacts(mode, holder, token, remaining, permits, claim, waitsFor, Optional.of(other));
    }

    @Override
    public String toString() {
        return "Entry[mode=" + mode + (permits == 1 ? "" : ", permits=" + permits) + ", token=" + token
                + ", remaining=" + remaining + ", holder=" + holder
                + granted.map(time -> ", granted=" + time).orElse("")
                + claim.map(id -> ", claim=" + id).orElse("")
                + waitsFor.map(wait -> ", waitsFor=" + wait).orElse("") + "]";
    }
}
