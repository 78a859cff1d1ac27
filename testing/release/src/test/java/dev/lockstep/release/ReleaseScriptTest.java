package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script of a release finds what is wrong before it changes anything, and sets the version everywhere. It runs in a copy
 * of some files. A release itself runs these tests, too, so the copy is brought to the state before any release.
 */
@Timeout(120) // against a script that hangs
class ReleaseScriptTest {
    private static final List<String> FILES = List.of(
            "pom.xml",
            "bom/pom.xml",
            "core/pom.xml",
            "README.md",
            "docs/kotlin.md",
            "CHANGELOG.md",
            "tools/release/release");

    @TempDir
    Path folder;

    /** The home of the person who releases. */
    @TempDir
    Path home;

    private final String version = Project.version().replace("-SNAPSHOT", "");

    @BeforeEach
    void copy() throws Exception {
        for (String file : FILES) {
            Path copy = folder.resolve(file);
            Files.createDirectories(copy.resolveSibling(""));
            Files.copy(Project.root().resolve(file), copy, StandardCopyOption.COPY_ATTRIBUTES);
        }
        for (String pom : List.of("pom.xml", "bom/pom.xml", "core/pom.xml")) {
            rewrite(pom, "<version>\\Q" + version + "\\E</version>", "<version>" + version + "-SNAPSHOT</version>");
            rewrite(pom, "<release\\.home>.*<", "<release.home>https://placeholder.invalid/lockstep<");
        }
        rewrite("CHANGELOG.md", "(?m)^## \\[.*", "## [" + version + "] - not released yet");
        run("git", "init", "--quiet");
        run("git", "config", "user.name", "test");
        run("git", "config", "user.email", "test@example.org");
        run("git", "add", ".");
        run("git", "commit", "--quiet", "--message", "All");
    }

    /** Replaces the first match, if there is one. */
    private void rewrite(String name, String pattern, String replacement) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, Files.readString(file).replaceFirst(pattern, replacement));
    }

    private String run(String... command) throws IOException, InterruptedException {
        Path log = Files.createTempFile("release", ".log"); // not in the folder, where it would count as a change
        try {
            Map<String, String> environment = Map.of(
                    "HOME",
                    home.toString(),
                    "JAVA_HOME",
                    home.resolve("jdk").toString(),
                    "GNUPGHOME",
                    home.resolve("keys").toString(),
                    "PATH",
                    home.resolve("bin") + File.pathSeparator + System.getenv("PATH"));
            return Rehearsal.run(folder, log, environment, List.of(command));
        } finally {
            Files.delete(log);
        }
    }

    private void assertRefused(String reason, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("tools/release/release"));
        command.addAll(List.of(arguments));
        String before = run("git", "status", "--porcelain");
        assertThatThrownBy(() -> run(command.toArray(String[]::new))).hasMessageContaining("release: " + reason);
        assertThat(run("git", "status", "--porcelain")).isEqualTo(before);
        assertThat(run("git", "tag")).isEmpty();
    }

    @Test
    void wrongArgumentsAreRefused() throws Exception {
        assertRefused("usage: tools/release/release VERSION NEXT");
        assertRefused("usage: tools/release/release VERSION NEXT", version);
        assertRefused("'one' is not a version", "one", "0.2.0");
        assertRefused("'0.2.0-SNAPSHOT' is not a version", version, "0.2.0-SNAPSHOT");
        assertRefused("the poms have version " + version + "-SNAPSHOT", "9.0.0", "9.1.0");
    }

    @Test
    void aFolderWithChangesIsRefused() throws Exception {
        Files.writeString(folder.resolve("new.txt"), "new");
        assertRefused("commit or remove what 'git status' shows", version, "9.0.0");
    }

    @Test
    void aProjectWithoutAHomeIsRefused() throws Exception {
        assertRefused("set release.home", version, "9.0.0");
    }

    @Test
    void aChangelogWithoutTheVersionIsRefused() throws Exception {
        Files.writeString(folder.resolve("CHANGELOG.md"), "# Changelog\n");
        run("git", "commit", "--quiet", "--all", "--message", "Forget");
        assertRefused("CHANGELOG.md has no heading", version, "9.0.0");
    }

    /** Maven runs the JDK of JAVA_HOME, whatever is on the path. */
    @Test
    void aJdkOfAnotherVersionIsRefused() throws Exception {
        setHome();
        command("bin/java", "echo 'openjdk version \"17.0.1\"'");
        command("jdk/bin/java", "echo 'openjdk version \"25.0.1\"'");
        assertRefused("use a JDK 17", version, "9.0.0");
    }

    private void setHome() throws Exception {
        rewrite("pom.xml", "placeholder\\.invalid", "example.org");
        rewrite("bom/pom.xml", "placeholder\\.invalid", "example.org");
        run("git", "commit", "--quiet", "--all", "--message", "Say where it lives");
    }

    /** Makes a command in the home. One in bin comes before the real one. RehearsalTest runs what this Maven does not. */
    private void command(String name, String line) throws IOException {
        Path file = home.resolve(name);
        Files.createDirectories(file.resolveSibling(""));
        Files.writeString(file, "#!/bin/sh\n" + line + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    @Nested
    @Tag("full") // needs gpg
    class WithEverythingThatAReleaseNeeds {
        @BeforeEach
        void prepare() throws Exception {
            setHome();
            Rehearsal.key(home.resolve("keys"));
            run("git", "config", "user.signingkey", "rehearsal");
            Files.createDirectories(home.resolve(".m2"));
            Files.writeString(home.resolve(".m2/settings.xml"), "<server><id>central</id></server>");
            command("jdk/bin/java", "echo 'openjdk version \"17.0.1\"'");
            command("bin/mvn", "echo mvn \"$@\" >> " + home.resolve("mvn.log"));
        }

        @AfterEach
        void endAgent() throws Exception {
            run("gpgconf", "--kill", "gpg-agent");
        }

        @Test
        void itIsCommittedTaggedUploadedAndFollowedByTheNextVersion() throws Exception {
            run("tools/release/release", version, "9.0.0");
            assertThat(home.resolve("mvn.log"))
                    .hasContent(String.join(" ", Rehearsal.DEPLOY) + " -Dgpg.keyname=rehearsal");
            run("git", "verify-tag", "v" + version);
            assertThat(run("git", "show", "v" + version + ":core/pom.xml")).contains("<version>" + version + "<");
            assertThat(run("git", "show", "v" + version + ":CHANGELOG.md"))
                    .containsPattern("(?m)^## \\[" + version + "] - \\d{4}-\\d\\d-\\d\\d$")
                    .doesNotContain("not released yet");

            assertThat(run("git", "log", "--format=%s", "-2")).isEqualTo("Begin 9.0.0\nRelease " + version + "\n");
            assertThat(run("git", "status", "--porcelain")).isEmpty();
            assertThat(folder.resolve("core/pom.xml")).content().contains("<version>9.0.0-SNAPSHOT<");
            assertThat(folder.resolve("CHANGELOG.md"))
                    .content()
                    .containsPattern("## \\[9.0.0] - not released yet\n\n## \\[" + version + "] - \\d{4}");
        }

        /** Nobody can download the version that is being worked on. */
        @Test
        void theReadmeShowsTheLastRelease() throws Exception {
            run("tools/release/release", version, "9.0.0");
            assertGuideShows(version);
            run("tools/release/release", "9.0.0", "9.1.0");
            assertGuideShows("9.0.0");
            assertThat(run("git", "show", "v9.0.0:core/pom.xml")).contains("<version>9.0.0<");
            assertThat(folder.resolve("core/pom.xml")).content().contains("<version>9.1.0-SNAPSHOT<");
        }

        @Test
        void aKeyThatCannotSignIsRefused() throws Exception {
            run("git", "config", "user.signingkey", "nobody");
            assertRefused("gpg cannot sign as 'nobody'", version, "9.0.0");
        }

        @Test
        void afterAFailedUploadItSaysHowToGoBack() throws Exception {
            command("bin/mvn", "exit 1");
            String before = run("git", "rev-parse", "HEAD");
            assertThatThrownBy(() -> run("tools/release/release", version, "9.0.0"))
                    .hasMessageContaining("release: not uploaded")
                    .hasMessageContaining("git tag -d v" + version + "; git reset --hard HEAD~1;");
            run("git", "tag", "-d", "v" + version);
            run("git", "reset", "--hard", "HEAD~1");
            assertThat(run("git", "rev-parse", "HEAD")).isEqualTo(before);
        }
    }

    /** A shell with CDPATH would look for the script's folder there. */
    @Test
    void itFindsItsFolder() throws Exception {
        Files.createDirectories(home.resolve("tools/release"));
        run("env", "CDPATH=" + home, "tools/release/release", "--prepare", version, "2027-02-03");
        assertThat(folder.resolve("pom.xml")).content().contains("<version>" + version + "</version>");
    }

    @Test
    void theVersionIsSetEverywhere() throws Exception {
        run("tools/release/release", "--prepare", version, "2027-02-03");
        for (String file : FILES) {
            assertThat(folder.resolve(file)).content().as(file).doesNotContain(version + "-SNAPSHOT");
        }
        assertGuideShows(version);
        for (String pom : List.of("pom.xml", "bom/pom.xml")) {
            assertThat(folder.resolve(pom))
                    .content()
                    .contains("<version>" + version + "</version>")
                    .contains("<project.build.outputTimestamp>2027-02-03T00:00:00Z<");
        }
    }

    private void assertGuideShows(String shown) {
        assertThat(folder.resolve("README.md"))
                .content()
                .contains(
                        "<version>" + shown + "</version>",
                        "lockstep-bom:" + shown + "\"",
                        "/lockstep-" + shown + "/bin/lockstep")
                .doesNotContain("SNAPSHOT");
        assertThat(folder.resolve("docs/kotlin.md"))
                .content()
                .contains("lockstep-bom:" + shown + "\"")
                .doesNotContain("SNAPSHOT");
    }
}
