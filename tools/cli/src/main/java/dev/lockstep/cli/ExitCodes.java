package dev.lockstep.cli;

/** How the command ends. Codes from 64 to 78 are those of {@code sysexits.h}, the others are a shell's. */
final class ExitCodes {
    /** The command did what was asked. */
    static final int OK = 0;

    /** An unexpected error, or a demo did not end as it should. */
    static final int FAILED = 1;

    /** The command line, or the URL on it, is invalid. */
    static final int USAGE = 2;

    /** There is a deadlock. */
    static final int DEADLOCK = 3;

    /** The engine did not answer. */
    static final int UNAVAILABLE = 69;

    /** The output could not be written. */
    static final int NOT_WRITTEN = 74;

    /** The lock is busy: exec could not acquire it, or release found another holder than the one to release. */
    static final int BUSY = 75;

    /** The lock was lost while the command ran. */
    static final int LOST = 76;

    /** The command to run cannot be executed. */
    static final int NOT_EXECUTABLE = 126;

    /** The command to run was not found. */
    static final int NOT_FOUND = 127;

    /** Plus a signal's number: ended by that signal. */
    static final int SIGNAL = 128;

    /** Nobody reads the output. */
    static final int BROKEN_PIPE = SIGNAL + 13;

    private ExitCodes() {}
}
