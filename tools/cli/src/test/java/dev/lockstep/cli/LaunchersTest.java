package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The launcher for Windows says and does what the other one of the archive does, as far as its text shows. */
class LaunchersTest {
    private static final Path FOLDER = Path.of("src/main/dist/bin");
    private static final Pattern MESSAGE = Pattern.compile("echo \"?(lockstep: [^:$%>\"]+)");
    private static final Pattern OPTION =
            Pattern.compile("-XX:\\+?(?!SharedArchiveFile|ArchiveClasses)\\S+|-Xshare:\\w+");

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
}
