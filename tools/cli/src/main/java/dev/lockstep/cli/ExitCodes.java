package dev.lockstep.cli;

/** How the command ends. Those above 64 are the ones of {@code sysexits.h}. */
final class ExitCodes {
    /** It did what was asked. */
    static final int OK = 0;

    /** Something unexpected went wrong. */
    static final int FAILED = 1;

    /** The command line, or the URL on it, makes no sense. */
    static final int USAGE = 2;

    /** The engine did not answer. */
    static final int UNAVAILABLE = 69;

    private ExitCodes() {}
}
