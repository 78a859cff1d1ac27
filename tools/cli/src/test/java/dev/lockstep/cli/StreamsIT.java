package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.cli.Launched.Run;
import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command when its output is a pipe that breaks, or a full disk; and when the engine is down. */
@Timeout(180)
class StreamsIT {
    @TempDir
    private Path folder;

    private Run shell(String script) throws IOException, InterruptedException {
        try (Launched launched = Launched.shell(folder, Map.of("LOCKSTEP_URL", "memory:"), script)) {
            return launched.end();
        }
    }

    @Test
    void brokenPipeEndsItSilently() throws Exception {
        Run run = shell("{ \"$LOCKSTEP\" completion; echo code $? >&2; } | true");
        assertThat(run.err()).isEqualTo("code " + ExitCodes.BROKEN_PIPE + "\n");
    }

    @Test
    void fullDiskIsReported() throws Exception {
        Servers.require(Files.exists(Path.of("/dev/full")), "/dev/full, a device that is always full");
        Run run = shell("\"$LOCKSTEP\" completion > /dev/full; echo code $?");
        assertThat(run.out()).isEqualTo("code " + ExitCodes.NOT_WRITTEN + "\n");
        assertThat(run.err())
                .startsWith("lockstep: the output could not be written")
                .hasLineCount(1);
    }

    @Test
    void completionCompletes() throws Exception {
        Run run = shell("source <(\"$LOCKSTEP\" completion); COMP_WORDS=(lockstep demo fl); COMP_CWORD=2;"
                + " _complete_lockstep; echo \"${COMPREPLY[@]}\"");
        assertThat(run.out()).isEqualTo("flash-sale\n"); // on standard error the shell says that nobody pressed a key
    }

    @Test
    void engineThatIsDownIsOneLineWithoutItsPassword() throws Exception {
        Run run = shell(
                "LOCKSTEP_URL='jdbc:postgresql://127.0.0.1:1/x?user=u&password=hush' \"$LOCKSTEP\" ls --timeout 1");
        assertThat(run.code()).isEqualTo(ExitCodes.UNAVAILABLE);
        assertThat(run.err()).startsWith("lockstep: ").hasLineCount(1).doesNotContain("hush");
    }
}
