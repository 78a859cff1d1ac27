package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A change that breaks callers is noticed from the first release on, though there is no release to compare with yet: here
 * the smallest module has been released, into a repository on disk.
 */
@Tag("full")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class CompatibilityTest {
    private static final String MODULE = "integrations/annotations";
    private static final String CODE = MODULE + "/src/main/java/dev/lockstep/annotation/Locked.java";
    private static final String REMOVED = "    String client() default \"\";";

    @TempDir
    Path folder;

    @BeforeEach
    void copyOneModule() throws IOException {
        for (String part : List.of(".mvn", MODULE)) {
            Rehearsal.copySources(Project.root().resolve(part), folder.resolve(part));
        }
        Files.copy(Project.root().resolve("pom.xml"), folder.resolve("pom.xml"));
        Files.writeString(folder.resolve("settings.xml"), Elsewhere.settings());
    }

    @Test
    void aBreakingChangeIsReportedAndFailsTheBuildFromOneOnUnlessTheMajorVersionChanges() throws Exception {
        maven("0.1.0", "install");
        maven("1.0.0", "install");
        Path code = folder.resolve(CODE);
        assertThat(code).content().contains(REMOVED);
        Files.writeString(code, Files.readString(code).replace(REMOVED, ""));

        maven("0.2.0-SNAPSHOT", "verify", "-Pfull");
        assertRemovalReported("0.1.0", "0.2.0-SNAPSHOT");

        assertThatThrownBy(() -> maven("1.1.0-SNAPSHOT", "verify", "-Pfull"))
                .hasMessageContaining("japicmp")
                .hasMessageContaining(
                        "Versions of archives indicate a minor change but binary incompatible changes found");
        assertRemovalReported("1.0.0", "1.1.0-SNAPSHOT");

        maven("2.0.0-SNAPSHOT", "verify", "-Pfull");
        assertRemovalReported("1.0.0", "2.0.0-SNAPSHOT");
    }

    private void assertRemovalReported(String from, String to) {
        Xml report = Xml.read(folder.resolve(MODULE + "/target/japicmp/compare-api.xml"));
        assertThat(report.text("/japicmp/@oldJar")).endsWith("lockstep-annotations-" + from + ".jar");
        assertThat(report.text("/japicmp/@newJar")).endsWith("lockstep-annotations-" + to + ".jar");
        assertThat(report.texts("//method[@changeStatus='REMOVED']/@name")).containsExactly("client");
    }

    /** Runs Maven on the module, in a version. */
    private void maven(String version, String... arguments) throws IOException, InterruptedException {
        for (String pom : List.of("pom.xml", MODULE + "/pom.xml")) {
            Path file = folder.resolve(pom); // whose first version is that of the project
            Files.writeString(
                    file,
                    Files.readString(file)
                            .replaceFirst("<version>[^<]*</version>", "<version>" + version + "</version>"));
        }
        List<String> command = new ArrayList<>(
                List.of("mvn", "-B", "-q", "-s", folder.resolve("settings.xml").toString()));
        command.add("-Dmaven.repo.local=" + folder.resolve("local"));
        command.addAll(List.of("-Dmaven.javadoc.skip", "-Dmaven.source.skip", "-Dspotless.check.skip"));
        command.addAll(List.of(arguments));
        Rehearsal.run(folder.resolve(MODULE), folder.resolve("build.log"), Map.of(), command);
    }
}
