package dev.lockstep.architecture.offending.internal;

/** An exception that must stay hidden. */
public class SecretException extends Exception {
    private static final long serialVersionUID = 1L;
}
