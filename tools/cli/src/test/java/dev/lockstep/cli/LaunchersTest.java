package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the launchers do with Java: here with one that only shows its arguments. The launcher for Windows says and does what
 * the other one of the archive does, as far as its text shows.
 */
@Timeout(60) // against a launcher that hangs
class LaunchersTest {
    private static final Path FOLDER = Path.of("src/main/dist/bin");
    private static final Pattern MESSAGE = Pattern.compile("echo \"?(lockstep: [^:$%>\"]+)");
    private static final Pattern OPTION =
            Pattern.compile("-XX:\\+?(?!SharedArchiveFile|ArchiveClasses)\\S+|-Xshare:\\w+");

    @TempDir
    private Path folder;

    private static String sh() throws IOException {
        return Files.readString(FOLDER.resolve("lockstep"));
    }

    private static String bat() throws IOException {
        return Files.readString(FOLDER.resolve("lockstep.bat"));
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map(match -> match.groupCount() == 0 ? match.group() : match.group(1))
                .distinct()
                .toList();
    }

    @Test
    void bothSayThatJavaIsMissing() throws IOException {
        assertThat(all(MESSAGE, bat()))
                .hasSize(2)
                .isEqualTo(all(MESSAGE, sh()))
                .anySatisfy(message -> assertThat(message).contains("JAVA_HOME has no bin/java"))
                .anySatisfy(message -> assertThat(message).contains("Java 17 or newer is needed"));
    }

    @Test
    void bothRunTheSameJarWithTheSameOptions() throws IOException {
        assertThat(all(OPTION, bat())).hasSize(3).containsExactlyInAnyOrderElementsOf(all(OPTION, sh()));
        Pattern jar = Pattern.compile("lockstep-cli\\.jar");
        assertThat(all(jar, bat())).isNotEmpty().isEqualTo(all(jar, sh()));
    }

    /** Windows finds labels for sure only in files with its own line ends; a bracket in JAVA_HOME would end a block. */
    @Test
    void theOneForWindowsIsWrittenForWindows() throws IOException {
        assertThat(bat().replace("\r\n", "")).doesNotContain("\n");
        assertThat(bat().lines().map(String::strip)).noneMatch(line -> line.endsWith("("));
    }

    /** Copies a launcher beside an empty jar, and lets it run; the lines are the arguments that Java gets. */
    private List<String> run(String launcher, Map<String, String> variables, String... command) throws Exception {
        boolean ofArchive = launcher.startsWith("bin/");
        Path copy = folder.resolve("home").resolve(launcher);
        Path jar = folder.resolve("home").resolve(ofArchive ? "lockstep-cli.jar" : "tools/cli/target/lockstep-cli.jar");
        Path java = folder.resolve("jdk/bin/java");
        if (!Files.exists(jar)) {
            for (Path file : List.of(copy, jar, java)) {
                Files.createDirectories(file.resolveSibling(""));
            }
            Files.copy(
                    Path.of(ofArchive ? "src/main/dist" : "../..", launcher), copy, StandardCopyOption.COPY_ATTRIBUTES);
            Files.createFile(jar);
            Files.createDirectories(jar.resolveSibling("lib"));
            Files.writeString(java, """
                    #!/bin/sh
                    case "$*" in
                      *ArchiveClassesAtExit*) echo dump >>"$JAVA_HOME/dumps"; exit 1 ;;
                    esac
                    printf '%s\\n' "$@"
                    """);
            Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
        }
        List<String> line = new ArrayList<>(List.of("env", "-u", "LC_CTYPE", "-u", "LANG"));
        line.addAll(Arrays.asList(command));
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(folder.resolve("home").toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment()
                .putAll(Map.of(
                        "JAVA_HOME",
                        folder.resolve("jdk").toString(),
                        "LOCKSTEP_BUILD",
                        "never",
                        "LOCKSTEP_CACHE",
                        "off"));
        builder.environment().putAll(variables);
        assertThat(builder.start().waitFor()).as(Files.readString(output)).isZero();
        return Files.readAllLines(output);
    }

    @ParameterizedTest
    @CsvSource({"bin/lockstep, lockstep-cli.jar", "lockstep, tools/cli/target/lockstep-cli.jar"})
    void theJarIsFoundWithACdPath(String launcher, String jar) throws Exception {
        String home = folder.toRealPath().resolve("home").toString();
        assertThat(run(launcher, Map.of("CDPATH", home), "bash", launcher)).containsSequence("-jar", home + "/" + jar);
    }

    /** The command of exec gets it back. */
    @ParameterizedTest
    @CsvSource({
        "bin/lockstep, C, -Dlockstep.lc_all=C",
        "lockstep, C, -Dlockstep.lc_all=C",
        "bin/lockstep, '', -Dlockstep.lc_all=",
        "lockstep, '', -Dlockstep.lc_all=",
        "bin/lockstep, C.UTF-8, ",
        "lockstep, C.UTF-8, "
    })
    void aLocaleThatIsReplacedIsPassedOn(String launcher, String locale, @Nullable String property) throws Exception {
        assertThat(run(launcher, Map.of("LC_ALL", locale), "bash", launcher).stream()
                        .filter(line -> line.startsWith("-Dlockstep.lc")))
                .isEqualTo(property == null ? List.of() : List.of(property));
    }

    /**
     * Else every start would start another JVM in the background. The command may change, or get more jars from the add-on:
     * Java does not use an archive of other jars.
     */
    @ParameterizedTest
    @ValueSource(strings = {"lockstep-cli.jar", "lib"})
    void anArchiveThatCannotBeMadeIsTriedOnceUntilTheJarsChange(String changed) throws Exception {
        Path cache = folder.resolve("cache");
        Map<String, String> variables = Map.of("LOCKSTEP_CACHE", cache.toString());
        Path dumps = folder.resolve("jdk/dumps");
        run("bin/lockstep", variables, "sh", "bin/lockstep");
        while (!Files.exists(cache) || names(cache).stream().noneMatch(name -> name.endsWith(".off"))) {
            TimeUnit.MILLISECONDS.sleep(20); // until the timeout of the test
        }
        run("bin/lockstep", variables, "sh", "bin/lockstep");
        run("bin/lockstep", variables, "sh", "bin/lockstep");
        assertThat(Files.readAllLines(dumps)).hasSize(1);

        Files.setLastModifiedTime(
                folder.resolve("home").resolve(changed),
                FileTime.from(Instant.now().plusSeconds(60)));
        run("bin/lockstep", variables, "sh", "bin/lockstep");
        while (Files.readAllLines(dumps).size() < 2) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
