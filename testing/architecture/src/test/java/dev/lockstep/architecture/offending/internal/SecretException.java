package dev.lockstep.architecture.offending.internal;

/** What nobody should catch. */
public class SecretException extends Exception {
    private static final long serialVersionUID = 1L;
}
