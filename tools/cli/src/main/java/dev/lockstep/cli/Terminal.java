package dev.lockstep.cli;

/** What is known of the terminal. The launcher tells, since Java does not know which of its streams is one. */
final class Terminal {
    private Terminal() {}

    /** Whether somebody sits before it: standard input is a terminal. */
    static boolean isInteractive() {
        return is("lockstep.stdin.terminal");
    }

    /** Whether what is written to standard output can be written over. */
    static boolean canRedraw() {
        return is("lockstep.stdout.terminal") && !"dumb".equals(System.getenv("TERM"));
    }

    private static boolean is(String property) {
        return Boolean.getBoolean(property);
    }
}
