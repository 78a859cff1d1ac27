package dev.lockstep.servers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process and its descendants at one moment, parents first.
 *
 * @param members the processes
 */
record ProcessFamily(List<ProcessHandle> members) {
    /** Ends a test that would hang: signals take effect at once, on a busy machine sooner than this. */
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    static ProcessFamily of(Process root) {
        List<ProcessHandle> members = new ArrayList<>(List.of(root.toHandle()));
        root.descendants().forEach(members::add);
        return new ProcessFamily(members);
    }

    /**
     * Stops a process, which then starts no more children, and after it those that it has; returns when all are
     * stopped.
     */
    static void pause(Process root) {
        new ProcessFamily(List.of(root.toHandle())).stopAndWait();
        of(root).stopAndWait();
    }

    private void stopAndWait() {
        signal("STOP", members);
        try {
            Await.until("the process is paused", TIMEOUT, () -> members.stream().allMatch(ProcessFamily::isStopped));
        } catch (ServerException e) {
            resume();
            throw e;
        }
    }

    /** Continues all, children first. */
    void resume() {
        List<ProcessHandle> childrenFirst = new ArrayList<>();
        members.forEach(member -> childrenFirst.add(0, member));
        signal("CONT", childrenFirst);
    }

    /** Asks the first to end, which ends its children itself. */
    void ask(String signal) {
        signal(signal, members.subList(0, 1));
    }

    void kill() {
        members.forEach(ProcessHandle::destroyForcibly);
    }

    /** Waits until all are gone, or dead and not yet reaped by a process that is not ours. */
    void awaitEnd() {
        Await.until("the processes are gone", TIMEOUT, () -> members.stream().noneMatch(ProcessFamily::isRunning));
    }

    private static boolean isRunning(ProcessHandle member) {
        try {
            return member.isAlive() && state(member) != 'Z';
        } catch (IOException e) {
            return false; // gone between two looks
        }
    }

    private static boolean isStopped(ProcessHandle member) {
        try {
            return !isRunning(member) || state(member) == 'T';
        } catch (IOException e) {
            return true; // gone between two looks
        }
    }

    /** A process's state as /proc gives it: T is stopped, Z is dead but not reaped. */
    private static char state(ProcessHandle process) throws IOException {
        Path file = Path.of("/proc", Long.toString(process.pid()), "stat");
        String stat = Files.readString(file, StandardCharsets.ISO_8859_1);
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }

    /** Sends a signal; a process that is gone meanwhile does not matter. */
    private static void signal(String signal, List<ProcessHandle> to) {
        String script = "s=$1; shift; for p; do kill -s \"$s\" \"$p\"; done 2>/dev/null; :";
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh", signal));
        to.forEach(process -> command.add(Long.toString(process.pid())));
        try {
            Commands.run(Path.of("."), TIMEOUT, command);
        } catch (IOException e) {
            throw new ServerException("cannot send " + signal, e);
        }
    }
}
