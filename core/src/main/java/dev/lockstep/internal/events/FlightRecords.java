package dev.lockstep.internal.events;

import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import dev.lockstep.LossReason;
import java.util.Optional;

/** Whether this JVM can make flight recordings, and whether one wants to know of locks now. Safe for use by many threads. */
final class FlightRecords {
    /** The module is optional: without it, no class that needs it is loaded. */
    private static final boolean PRESENT = isPresent();

    private FlightRecords() {}

    private static boolean isPresent() {
        try {
            FlightRecorder.wantsCalls();
            return true;
        } catch (LinkageError e) {
            return false;
        }
    }

    /** Makes an observer for a client; empty if the JVM has no flight recorder. */
    static Optional<LockObserver> observer(String client, String address) {
        return PRESENT ? Optional.of(new FlightRecorder(client, address)) : Optional.empty();
    }

    /** Whether calls and holds are recorded at this moment. Costs next to nothing. */
    static boolean wantCalls() {
        return PRESENT && FlightRecorder.wantsCalls();
    }

    /**
     * Records a loss.
     *
     * @param token 0 if nobody has asked for it
     */
    static void lost(String client, String lock, LockMode mode, LossReason reason, long token) {
        if (PRESENT) {
            FlightRecorder.lost(client, lock, mode, reason, token);
        }
    }

    static boolean wantRequests() {
        return PRESENT && FlightRecorder.wantsRequests();
    }
}
