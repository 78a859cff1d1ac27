package dev.lockstep.torture;

/**
 * A rule that was broken.
 *
 * @param rule which
 * @param lock the number of the lock; -1 if it is none's
 * @param at the stamp at which it is certain
 * @param text what was seen
 * @param excuse why the engine does not promise otherwise; empty if it does
 */
record Violation(Rule rule, int lock, long at, String text, String excuse) {
    boolean isExcused() {
        return !excuse.isEmpty();
    }

    /** The violation as a line for people. */
    String line() {
        return rule + (isExcused() ? " (not promised in: " + excuse + ")" : "") + ": " + text;
    }
}
