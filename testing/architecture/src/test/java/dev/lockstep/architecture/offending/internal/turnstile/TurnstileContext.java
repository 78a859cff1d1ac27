package dev.lockstep.architecture.offending.internal.turnstile;

/** What a decision knows of its client. */
public class TurnstileContext {
    void watchDeadline(long deadlineNanos) {}
}
