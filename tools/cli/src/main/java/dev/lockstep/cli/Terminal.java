package dev.lockstep.cli;

/**
 * What is known about the terminal. The launcher passes it, since Java does not know which of its streams is a
 * terminal.
 */
final class Terminal {
    private Terminal() {}

    /** Whether a person can answer: standard input is a terminal. */
    static boolean isInteractive() {
        return is("lockstep.stdin.terminal");
    }

    /** Whether output can be overwritten: standard output is a terminal that supports it. */
    static boolean canRedraw() {
        return is("lockstep.stdout.terminal") && !"dumb".equals(System.getenv("TERM"));
    }

    private static boolean is(String property) {
        return Boolean.getBoolean(property);
    }
}
