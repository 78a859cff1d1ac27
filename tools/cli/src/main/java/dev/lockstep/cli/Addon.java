package dev.lockstep.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/**
 * The part that starts servers and injects faults: a separate download, since it contains servers and is not for
 * production.
 */
final class Addon {
    static final String NAME =
            "the torture add-on, the archive lockstep-cli-VERSION-torture, unpacked over this installation";

    private Addon() {}

    /** Whether it is installed. */
    static boolean isThere() {
        return Addon.class.getClassLoader().getResource("dev/lockstep/torture/Torture.class") != null;
    }

    /** The command {@code torture}, or instead of it one that says what is missing. */
    static Object torture() {
        return isThere() ? new TortureCommand() : new Missing();
    }

    @Command(name = "torture", description = "Injects faults while several processes use locks. Needs " + NAME + ".")
    static final class Missing implements Callable<Integer> {
        @Unmatched
        private List<String> ignored = new ArrayList<>();

        @Override
        public Integer call() {
            throw new Refusal(ExitCodes.USAGE, "torture needs " + NAME);
        }
    }
}
