package dev.lockstep.torture;

import java.util.Set;

/** A bug that a backend could have, planted to see that the torture finds it. */
public enum PlantedBug {
    /** A client that releases a lost lock ends the hold of the next holder, as a delete does that ignores the owner. */
    RELEASE_WITHOUT_OWNER_CHECK(Rule.EXCLUSION),

    /** A hold is taken for valid until the engine says otherwise, which it cannot when it is out of reach. */
    NO_DEADLINE(Rule.EXCLUSION),

    /** Validity counts from a moment that is up to a ttl too late. */
    LATE_DEADLINE(Rule.EXCLUSION),

    /** The engine's word that a session has ended is not passed on: after the reconnect two hold the lock. */
    DOUBLE_GRANT_AFTER_RECONNECT(Rule.EXCLUSION),

    /** A holder is not notified that an operator has ended its hold. */
    REVOCATION_NOT_TOLD(Rule.EXCLUSION),

    /** A grant is delivered when it has long ended at the engine. */
    GRANT_AFTER_LEASE_ENDED(Rule.EXCLUSION),

    /** Readers do not look whether there is a writer. */
    READERS_BESIDE_WRITER(Rule.EXCLUSION),

    /** The counter of tokens begins again, as after a restart without data. */
    TOKEN_RESET(Rule.TOKENS),

    /** Two grants in a row can have the same token. */
    TOKEN_TWICE(Rule.TOKENS),

    /** Readers have tokens from before the last writer. */
    READER_TOKEN_TOO_LOW(Rule.TOKENS),

    /** All grants have the same token, so storage cannot tell a stale writer from the holder. */
    ONE_TOKEN_FOR_ALL(Rule.FENCING),

    /** A holder that loses a lock is not notified. */
    LOSS_NOT_TOLD(Rule.LOSS),

    /** A call that gives up leaves its claim in the queue, which is granted later to nobody. */
    MISSED_WITHDRAW(Rule.LIVENESS, Rule.LEFTOVERS),

    /** Some releases are said to be done and are not. */
    RELEASE_FORGOTTEN(Rule.LIVENESS, Rule.LEFTOVERS),

    /** Some grants go to the claim that came last, whether the lock is fair or not. */
    LAST_COME_FIRST_SERVED(Rule.ORDER),

    /** A passing failure is reported as a permanent one: a call ends with the message that the engine is set up wrongly. */
    OUTAGE_TOLD_AS_WRONG_SET_UP(Rule.OUTCOME),

    /** Some calls end with an exception that says that the engine is not available, though it answers. */
    UNAVAILABLE_THOUGH_HEALTHY(Rule.OUTCOME),

    /** The holder of a lock for which a thread waits is shown to wait for that thread, which it does not. */
    DEADLOCK_THAT_IS_NONE(Rule.VICTIM),

    /** A semaphore grants one permit more than it has. */
    PERMIT_BEYOND_LIMIT(Rule.PERMITS),

    /** A permit has the lowest slots, whether or not another permit has them. */
    SLOT_TWICE(Rule.EXCLUSION),

    /** Some permits are said to be returned and are not. */
    PERMIT_NOT_RETURNED(Rule.LIVENESS, Rule.LEFTOVERS),

    /** Two terms in a row can have the same number. */
    TERM_NUMBER_TWICE(Rule.TOKENS),

    /** A leader that loses its term continues as if it still led. */
    TERM_WITHOUT_END(Rule.EXCLUSION);

    private final Set<Rule> breaks;

    PlantedBug(Rule... breaks) {
        this.breaks = Set.of(breaks);
    }

    /** The rules that it breaks; a run that finds none of them broken has not found the bug. */
    Set<Rule> breaks() {
        return breaks;
    }
}
