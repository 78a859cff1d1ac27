package dev.lockstep.architecture.offending.internal.turnstile;

/** Decides in place of posting an event. */
public class Action {
    Object decide() {
        return new Decision();
    }
}
