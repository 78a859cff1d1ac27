package dev.lockstep.torture;

import java.util.Set;

/**
 * A fault that was injected.
 *
 * @param kind its name
 * @param target what was hurt
 * @param client the client that was hurt, or {@link #ALL}
 * @param lock the lock that was hurt, or {@link #ALL}
 * @param excuses the rules that the engine does not promise to keep in it, as docs/guarantees.md says
 * @param from the stamp before it began
 * @param until the stamp after it was healed
 * @param landed whether one of those that it hurt was inside when it began
 */
record FaultWindow(
        String kind, String target, int client, int lock, Set<Rule> excuses, long from, long until, boolean landed) {
    static final int ALL = -1;

    private static final String FAILED = " (failed)";
    private static final String STALL = "stalled";

    /** The kind of a fault whose injection failed; it may have been carried out or not. */
    static String failed(String kind) {
        return kind + FAILED;
    }

    /** A stall without a fault: a client, or all with the observer, got no processor time. */
    static FaultWindow stall(int client, long from, long until) {
        return new FaultWindow(
                STALL, client == ALL ? "all" : "worker " + client, client, ALL, Set.of(), from, until, false);
    }

    /** A client lost a hold between two times. */
    static FaultWindow loss(int client, long from, long until) {
        return new FaultWindow("hold lost", "worker " + client, client, ALL, Set.of(), from, until, false);
    }

    boolean isStall() {
        return kind.equals(STALL);
    }

    boolean hasFailed() {
        return kind.endsWith(FAILED);
    }

    FaultWindow thatLanded() {
        return new FaultWindow(kind, target, client, lock, excuses, from, until, true);
    }

    boolean hurts(int someClient, int someLock) {
        return hurtsLock(someLock) && (client == ALL || client == someClient);
    }

    boolean hurtsLock(int someLock) {
        return lock == ALL || lock == someLock;
    }
}
