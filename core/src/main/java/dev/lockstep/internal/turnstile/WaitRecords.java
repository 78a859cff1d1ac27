package dev.lockstep.internal.turnstile;

import dev.lockstep.LockInfo;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The records that the engine should store beside the grants of a turnstile: which locks their holders wait for. It is
 * empty unless a thread holds this lock and has waited for another one for some time. Guarded by the turnstile's mutex,
 * except for one read.
 */
final class WaitRecords {
    private final Map<Passage, WaitRecord> records = new LinkedHashMap<>(0);

    private volatile boolean any;

    /** Whether something is or may be stored. May be asked without the mutex. */
    boolean isAny() {
        return any;
    }

    /** The owner of a hold waits for another lock. */
    void begin(Hold hold, LockInfo.Wait wait) {
        if (hold.isOpen() && hold.passage.isHeld()) {
            records.computeIfAbsent(hold.passage, passage -> new WaitRecord()).put(hold, wait);
            any = true;
        }
    }

    /** The owner of a hold waits no longer, or the hold has ended. */
    void end(Hold hold) {
        WaitRecord record = any ? records.get(hold.passage) : null;
        if (record != null) {
            record.waits.remove(hold);
        }
    }

    /** The wait that others should see beside the grant of a hold; null if nothing. */
    LockInfo.@Nullable Wait shown(Hold hold) {
        WaitRecord record = records.get(hold.passage);
        return record == null ? null : record.wanted();
    }

    /** Several readers wait under one grant: shows the next one. */
    void showNext(Hold hold) {
        WaitRecord record = records.get(hold.passage);
        if (record != null && record.waits.size() > 1) {
            Hold first = record.waits.keySet().iterator().next();
            record.put(first, Objects.requireNonNull(record.waits.get(first)));
        }
    }

    /** Failed requests are tried again. */
    void retry() {
        records.values().forEach(record -> record.failed = false);
    }

    /** The engine has answered; null if it is not known whether it has stored what it was asked to. */
    void answered(Passage passage, Optional<LockInfo.Wait> sent, boolean known) {
        WaitRecord record = records.get(passage);
        if (record != null) {
            record.busy = false;
            record.failed = !known;
            record.uncertain = !known;
            record.stored = sent.orElse(null);
        }
    }

    /** Asks for what is not stored yet, one request for a grant at a time, and forgets grants that are gone. */
    void settle(Effects effects) {
        for (Iterator<Map.Entry<Passage, WaitRecord>> all = records.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<Passage, WaitRecord> next = all.next();
            Passage passage = next.getKey();
            WaitRecord record = next.getValue();
            LockInfo.Wait wanted = record.wanted();
            boolean settled = !record.uncertain && Objects.equals(wanted, record.stored);
            if (!passage.isHeld() || !record.busy && settled && wanted == null) {
                all.remove();
            } else if (!record.busy && !settled && !(record.failed && Objects.equals(wanted, record.stored))) {
                record.busy = true;
                effects.add(new Effect.RecordWait(passage, Optional.ofNullable(wanted)));
            }
        }
        any = !records.isEmpty();
    }

    /** The record of one grant. */
    private static final class WaitRecord {
        /** The waits of the owners of its holds; the last one is shown. */
        final Map<Hold, LockInfo.Wait> waits = new LinkedHashMap<>(2);

        /** The wait that the engine was last asked to store; null for nothing. */
        LockInfo.@Nullable Wait stored;

        /** Whether the engine may not have stored that. */
        boolean uncertain;

        /** Whether the engine has not answered the last request: the next look tries again. */
        boolean failed;

        /** Whether a request is on its way. */
        boolean busy;

        void put(Hold hold, LockInfo.Wait wait) {
            waits.remove(hold);
            waits.put(hold, wait);
        }

        LockInfo.@Nullable Wait wanted() {
            LockInfo.Wait last = null;
            for (LockInfo.Wait wait : waits.values()) {
                last = wait;
            }
            return last;
        }
    }
}
