package dev.lockstep.servers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How a process is started.
 *
 * @param command the program and its arguments
 * @param environment what is added to this JVM's environment
 * @param unprivileged whether it must not run as root, which it then does not even if this JVM does
 */
record Launch(List<String> command, Map<String, String> environment, boolean unprivileged) {
    private static final String NOBODY = "65534";

    Launch {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
    }

    static Launch of(Program program, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(program.path().toString());
        command.addAll(arguments);
        return new Launch(command, program.environment(), false);
    }

    static Launch of(Program program, String... arguments) {
        return of(program, List.of(arguments));
    }

    /** The same, not as root. */
    Launch asNobody() {
        return new Launch(command, environment, true);
    }

    /**
     * The command line in full. Some servers refuse root, but other users may not enter root's folders: so the server
     * gets the capability. It must also count when a program asks beforehand what it may do (access): so the server
     * gets the secure bit.
     */
    List<String> commandLine() {
        if (!unprivileged || !"root".equals(System.getProperty("user.name"))) {
            return command;
        }
        List<String> line = new ArrayList<>(List.of(
                "setpriv",
                "--securebits=+no_setuid_fixup",
                "--reuid=" + NOBODY,
                "--regid=" + NOBODY,
                "--clear-groups",
                "--inh-caps=+dac_override",
                "--ambient-caps=+dac_override"));
        line.addAll(command);
        return line;
    }
}
