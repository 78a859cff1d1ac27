package dev.lockstep.torture;

import java.util.EnumSet;
import java.util.Set;

/** A rule that must hold. */
public enum Rule {
    /**
     * No client is inside beside an exclusive holder while the leases of both are valid. Terms and slots are exclusive,
     * too.
     */
    EXCLUSION("two inside within their leases"),

    /** No more permits of a semaphore are valid at a time than it has. */
    PERMITS("more permits valid than there are"),

    /** Exclusive tokens rise strictly in the order of grants; a reader's lies between those of the writers around it. */
    TOKENS("tokens out of order"),

    /** A fair lock serves a caller that certainly waited before callers that came later. */
    ORDER("overtaken on a fair lock"),

    /** Storage that checks tokens loses no update. */
    FENCING("updates lost though tokens were checked"),

    /** A holder that lost a lock is notified. */
    LOSS("a loss without a notification"),

    /** A call ends in one of the ways that its contract names. */
    OUTCOME("a call that ended in no way it may"),

    /** A call that fails because of a deadlock was in a cycle of calls that waited for each other. */
    VICTIM("failed for a deadlock that was not there"),

    /** When all is healed, every lock is granted again within the ttl and five seconds. */
    LIVENESS("not granted again in time"),

    /** At the end nothing is held, waited for or left running. */
    LEFTOVERS("left over at the end");

    private static final Set<Rule> OF_SECTIONS = EnumSet.of(EXCLUSION, PERMITS, TOKENS, ORDER, VICTIM);

    private final String broken;

    Rule(String broken) {
        this.broken = broken;
    }

    /** Whether each section can break it once. */
    boolean isOfSections() {
        return OF_SECTIONS.contains(this);
    }

    /**
     * Says what it means that the rule was broken.
     *
     * @return a few words
     */
    public String broken() {
        return broken;
    }
}
