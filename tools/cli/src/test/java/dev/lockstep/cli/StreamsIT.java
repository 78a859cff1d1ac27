package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.lockstep.cli.Launched.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the command does when its output is a pipe that breaks, a full disk, or a terminal; and when the engine is down. */
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
    void brokenPipeEndsItWithoutAWord() throws Exception {
        Run run = shell("{ \"$LOCKSTEP\" completion; echo code $? >&2; } | true");
        assertThat(run.err()).isEqualTo("code " + ExitCodes.BROKEN_PIPE + "\n");
    }

    @Test
    void fullDiskIsTold() throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/full")));
        Run run = shell("\"$LOCKSTEP\" completion > /dev/full; echo code $?");
        assertThat(run.out()).isEqualTo("code " + ExitCodes.NOT_WRITTEN + "\n");
        assertThat(run.err())
                .startsWith("lockstep: the output could not be written")
                .hasLineCount(1);
    }

    @Test
    void terminalIsDrawnAnew() throws Exception {
        assumeTrue(shell("command -v script").code() == 0);
        Run run = shell("script -qec '\"$LOCKSTEP\" watch -n 2 --interval 0.1' /dev/null < /dev/null");
        assertThat(run.out()).contains("\u001b[2J").contains("\u001b[H").contains("LOCK");
    }

    @Test
    void engineThatIsDownIsOneLineWithoutItsPassword() throws Exception {
        Run run = shell(
                "LOCKSTEP_URL='jdbc:postgresql://127.0.0.1:1/x?user=u&password=hush' \"$LOCKSTEP\" ls --timeout 1");
        assertThat(run.code()).isEqualTo(ExitCodes.UNAVAILABLE);
        assertThat(run.err()).startsWith("lockstep: ").hasLineCount(1).doesNotContain("hush");
    }
}
