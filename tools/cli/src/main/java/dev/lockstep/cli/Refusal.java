package dev.lockstep.cli;

/** Ends the command with a one-line message and an exit code. */
final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    Refusal(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
