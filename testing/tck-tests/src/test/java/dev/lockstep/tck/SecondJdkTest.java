package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.console.ConsoleLauncher;

/**
 * The contract on the memory engine in a JVM of another version: the one of {@code LOCKSTEP_SECOND_JAVA_HOME}, or the
 * newest that is installed where Linux distributions put them.
 */
@Tag("full")
class SecondJdkTest {
    private static final String VARIABLE = "LOCKSTEP_SECOND_JAVA_HOME";
    private static final Path INSTALLED = Path.of("/usr/lib/jvm");
    private static final int MINUTES = 10;

    @Test
    void contractHolds(@TempDir Path folder) throws Exception {
        Optional<Path> home = secondJdk();
        Servers.require(home.isPresent(), "a second JDK; " + VARIABLE + " can name one");
        Path output = folder.resolve("output");
        List<String> command = new ArrayList<>(
                List.of(home.get().resolve("bin/java").toString(), "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(ConsoleLauncher.class.getName(), "execute", "--disable-banner", "--details=summary"));
        command.addAll(List.of("-c", MemoryLockContractTest.class.getName()));
        command.addAll(List.of("--config", "junit.jupiter.execution.parallel.enabled=true"));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(output)).isZero();
            assertThat(Files.readString(output)).containsPattern("\\[ +0 tests failed +\\]");
        } finally {
            process.destroyForcibly();
        }
    }

    private static Optional<Path> secondJdk() throws IOException {
        String named = System.getenv(VARIABLE);
        if (named != null) {
            return Optional.of(Path.of(named));
        }
        int newest = 0;
        Path found = null;
        if (Files.isDirectory(INSTALLED)) {
            try (DirectoryStream<Path> homes = Files.newDirectoryStream(INSTALLED)) {
                for (Path home : homes) {
                    int version = version(home);
                    if (version > newest && version != Runtime.version().feature()) {
                        newest = version;
                        found = home;
                    }
                }
            }
        }
        return Optional.ofNullable(found);
    }

    /** The version that a JDK's own file says, 0 if it has none that can run the tests. */
    private static int version(Path home) throws IOException {
        Path release = home.resolve("release");
        if (!Files.isRegularFile(release) || !Files.isExecutable(home.resolve("bin/java"))) {
            return 0;
        }
        for (String line : Files.readAllLines(release)) {
            if (line.startsWith("JAVA_VERSION=\"")) {
                int version = Runtime.Version.parse(line.replaceAll(".*\"(.*)\"", "$1"))
                        .feature();
                return version < 17 ? 0 : version;
            }
        }
        return 0;
    }
}
