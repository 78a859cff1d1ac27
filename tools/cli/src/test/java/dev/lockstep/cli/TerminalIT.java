package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.cli.Launched.Run;
import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command on a terminal. The terminal is that of {@code script}, which every Debian has. */
@Timeout(180)
class TerminalIT {
    private static final String INTERRUPT = "\u0003";

    @TempDir
    private Path folder;

    private String url = "";

    @BeforeEach
    void chooseFile() {
        Servers.require(
                Files.isExecutable(Path.of("/usr/bin/script")), "script, which runs a terminal: install bsdutils");
        url = "jdbc:sqlite:" + folder.resolve("locks.db");
    }

    /**
     * Starts a command line in which {@code $LOCKSTEP} is the command. Typed text goes to the terminal. The shell
     * becomes the command: one that stayed would hear the terminal's interrupt too, and end of it with a code of its
     * own.
     */
    private Launched start(String commandLine) throws IOException {
        Map<String, String> variables =
                Map.of("LOCKSTEP_URL", url, "COMMAND_LINE", "exec " + commandLine, "TERM", "xterm", "SHELL", "/bin/sh");
        return Launched.shell(folder, variables, "exec script -qec \"$COMMAND_LINE\" /dev/null");
    }

    @Test
    void releaseAsksAndTakesOnlyAYesForAYes() throws Exception {
        try (LockClient client =
                        LockClient.builder().url(url).clientName("the holder").connect();
                Lease lease = client.lock("job").acquire()) {
            Run no = answer("n");
            assertThat(no.code()).isEqualTo(ExitCodes.FAILED);
            assertThat(no.out()).contains("Force-release it? [y/N]").contains("nothing was done");
            assertThat(answer("").code()).isEqualTo(ExitCodes.FAILED);
            assertThat(client.inspect("job").holders()).hasSize(1);
            assertThat(lease.isValid()).isTrue();

            Run yes = answer("y");
            assertThat(yes.code()).as(yes.out()).isZero();
            assertThat(yes.out()).contains("released");
            assertThat(client.inspect("job").holders()).isEmpty();
        } catch (dev.lockstep.LockLostException e) {
            // Closing a lease that was taken away says so.
        }
    }

    /** As on Windows, whose launcher cannot tell. */
    @Test
    void releaseAsksEvenIfTheLauncherDoesNotKnowTheTerminal() throws Exception {
        Path jar = Path.of("target/lockstep-cli.jar").toAbsolutePath();
        try (LockClient client =
                        LockClient.builder().url(url).clientName("the holder").connect();
                Lease lease = client.lock("job").acquire()) {
            Run no = answer("\"$JAVA_HOME/bin/java\" -Djdk.console=java.base -jar " + jar, "n");
            assertThat(no.out()).contains("Force-release it? [y/N]").contains("nothing was done");
            assertThat(lease.isValid()).isTrue();
        }
    }

    private Run answer(String word) throws IOException, InterruptedException {
        return answer("\"$LOCKSTEP\"", word);
    }

    private Run answer(String lockstep, String word) throws IOException, InterruptedException {
        try (Launched release = start(lockstep + " release --force job")) {
            assertThat(release.line()).contains("held by").contains("the holder");
            release.type(word + "\r");
            return release.end();
        }
    }

    @Test
    void watchIsDrawnInPlace() throws Exception {
        try (LockClient holder = LockClient.builder().url(url).clientName("one").connect();
                LockClient waiter =
                        LockClient.builder().url(url).clientName("two").connect();
                Lease lease = holder.lock("job").acquire();
                Launched watch = start("\"$LOCKSTEP\" watch --interval 0.1")) {
            CompletableFuture<Lease> waiting = waiter.lock("job").acquireAsync();
            readUntil(watch, "job +waiter 1 +exclusive +- .* two ");
            lease.close();
            readUntil(watch, "job +holder +exclusive +\\d+ .* two ");
            watch.type(INTERRUPT);
            Run run = watch.end();
            assertThat(run.code()).isEqualTo(130);
            waiting.join().close();
        }
    }

    /** Reads lines until one matches; each is drawn over an older one. */
    private static void readUntil(Launched launched, String pattern) throws IOException {
        String line = launched.line();
        while (!line.matches(".*" + pattern + ".*")) {
            assertThat(line).as("the display ended").isNotEqualTo("null");
            line = launched.line();
        }
        assertThat(line).contains("\u001b[K");
    }

    @Test
    void progressOfADemoIsDrawnInPlace() throws Exception {
        try (Launched demo = start(
                "\"$LOCKSTEP\" demo --processes 2 --threads 2 --buyers 60 --stock 20 --url jdbc:sqlite:demo.db")) {
            Run run = demo.end();
            assertThat(run.code()).as(run.out()).isZero();
            assertThat(run.out())
                    .containsPattern("\rwithout a lock +\\[#*-+] \\d+/60 .*\u001b\\[K\r")
                    .containsPattern("\rwith a lock +\\[#{30}] 60/60  sold 20 .*\u001b\\[K")
                    .contains("exact");
        }
    }

    @Test
    void interruptFromTheTerminalReachesTheCommandOnce() throws Exception {
        String command = "trap \"echo interrupted\" INT; trap \"exit 5\" USR1; echo ready; while :; do sleep 0.1; done";
        try (LockClient client = LockClient.connect(url);
                Launched exec = start("\"$LOCKSTEP\" exec job -- sh -c '" + command + "'")) {
            assertThat(exec.line()).isEqualTo("ready");
            exec.type(INTERRUPT);
            assertThat(exec.line()).endsWith("interrupted");
            long holder = client.inspect("job").holders().get(0).holder().pid();
            Signals.send("USR1", holder); // passed on
            Run run = exec.end();
            assertThat(run.code()).isEqualTo(5);
            assertThat(run.out()).doesNotContain("interrupted");
            assertThat(client.inspect("job").isFree()).isTrue();
        }
    }
}
