package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.cli.Launched.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The launcher in a clone in which nothing is built yet. Maven is a script that puts the command of this build where the
 * real one would: a build takes minutes, and is tried out by everybody who clones.
 */
@Timeout(180)
class FirstUseIT {
    private static final String ANNOUNCEMENT = "lockstep: building the command, once …\n";

    @TempDir
    private Path folder;

    private Path clone = Path.of("");

    @BeforeEach
    void makeClone() throws IOException {
        clone = Files.createDirectories(folder.resolve("clone"));
        Files.copy(Path.of("../../lockstep"), clone.resolve("lockstep"));
        Files.createDirectories(clone.resolve("core/src/main"));
        Files.createDirectories(clone.resolve("core/src/test"));
        Files.writeString(clone.resolve("pom.xml"), "<project/>");
        maven("cp " + Path.of("target/lockstep-cli.jar").toAbsolutePath() + " tools/cli/target/ && ln -sfn "
                + Path.of("target/lib").toAbsolutePath() + " tools/cli/target/lib");
    }

    /** Puts a Maven on the path that does something, and notes how it was called. */
    private void maven(String does) throws IOException {
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Path mvn = Files.writeString(bin.resolve("mvn"), "#!/bin/sh\necho \"$@\" >> ../calls\n" + does + "\n");
        assertThat(mvn.toFile().setExecutable(true)).isTrue();
    }

    private Launched start(String script) throws IOException {
        String path = folder.resolve("bin") + ":" + System.getenv("PATH");
        return Launched.shell(
                folder,
                Map.of(
                        "PATH",
                        path,
                        "LOCKSTEP_BUILD",
                        "",
                        "LOCKSTEP",
                        clone.resolve("lockstep").toString()),
                script);
    }

    private Run run() throws IOException, InterruptedException {
        try (Launched launched = start("bash \"$LOCKSTEP\" --version")) {
            return launched.end();
        }
    }

    private long builds() throws IOException {
        return Files.readAllLines(folder.resolve("calls")).size();
    }

    @Test
    void buildsOnceAndSaysSo() throws Exception {
        Run first = run();
        assertThat(first.err()).isEqualTo(ANNOUNCEMENT);
        assertThat(first.out()).startsWith("lockstep ");
        assertThat(first.code()).isZero();
        assertThat(Files.readString(folder.resolve("calls"))).contains("-pl tools/cli -am package");

        assertThat(run().err()).isEmpty();
        Files.writeString(clone.resolve("core/src/test/Test.java"), "");
        assertThat(run().err()).isEmpty();
        assertThat(builds()).isEqualTo(1);

        Files.writeString(clone.resolve("core/src/main/Changed.java"), "");
        assertThat(run().err()).isEqualTo(ANNOUNCEMENT);
        assertThat(run().err()).isEmpty();
        assertThat(builds()).isEqualTo(2);
    }

    @Test
    void twoAtOnceBuildOnce() throws Exception {
        maven("sleep 1; cp " + Path.of("target/lockstep-cli.jar").toAbsolutePath() + " tools/cli/target/ && ln -sfn "
                + Path.of("target/lib").toAbsolutePath() + " tools/cli/target/lib");
        try (Launched both = start("bash \"$LOCKSTEP\" --version & bash \"$LOCKSTEP\" --version; wait")) {
            Run run = both.end();
            assertThat(run.out()).hasLineCount(2);
            assertThat(run.err()).isEqualTo(ANNOUNCEMENT);
        }
        assertThat(builds()).isEqualTo(1);
    }

    @Test
    void buildThatFailsSaysWhereToLook() throws Exception {
        maven("echo 'no compiler'; exit 1");
        Run run = run();
        assertThat(run.code()).isEqualTo(ExitCodes.FAILED);
        assertThat(run.err())
                .startsWith(ANNOUNCEMENT + "lockstep: the build failed, see ")
                .hasLineCount(2);
        assertThat(Files.readString(clone.resolve("tools/cli/target/build.log")))
                .contains("no compiler");
    }
}
