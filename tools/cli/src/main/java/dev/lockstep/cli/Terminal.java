package dev.lockstep.cli;

/**
 * The known facts about the terminal. The launcher passes it, since Java does not know which of its streams is a
 * terminal. The one for Windows does not know either.
 */
final class Terminal {
    private static final String STDIN = "lockstep.stdin.terminal";

    private Terminal() {}

    /** Whether a person can answer: standard input is a terminal. */
    static boolean isInteractive() {
        return System.getProperty(STDIN) == null ? System.console() != null : is(STDIN);
    }

    /** Whether output can be overwritten: standard output is a terminal that supports it. */
    static boolean canRedraw() {
        return is("lockstep.stdout.terminal") && !"dumb".equals(System.getenv("TERM"));
    }

    private static boolean is(String property) {
        return Boolean.getBoolean(property);
    }
}
