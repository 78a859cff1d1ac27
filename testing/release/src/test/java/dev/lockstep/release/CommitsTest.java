package dev.lockstep.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The subjects of new commits are checked, in a clone and in the clone of a pull request. */
@Timeout(120) // against a script that hangs
class CommitsTest {
    private static final String SCRIPT = ".ci/check-commits";

    /** The repository that others clone. */
    @TempDir
    Path origin;

    @TempDir
    Path folder;

    private Path clone;

    /** The main branch has an old commit whose subject is not checked any more. */
    @BeforeEach
    void cloneARepository() throws Exception {
        git(origin, "init", "--quiet", "--initial-branch=main");
        Files.createDirectories(origin.resolve(".ci"));
        Files.copy(Project.root().resolve(SCRIPT), origin.resolve(SCRIPT), StandardCopyOption.COPY_ATTRIBUTES);
        git(origin, "add", ".");
        commit(origin, "an old subject.");
        clone = clone("clone");
    }

    private Path clone(String name, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("clone", "--quiet"));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of(origin.toUri().toString(), name));
        git(folder, arguments.toArray(String[]::new));
        return folder.resolve(name);
    }

    private void commit(Path repository, String subject) throws Exception {
        git(repository, "commit", "--quiet", "--allow-empty", "--message", subject + "\n\nThe why.\n");
    }

    private String git(Path repository, String... arguments) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("git", "-c", "user.name=test", "-c", "user.email=test@example.org"));
        command.addAll(List.of(arguments));
        return run(repository, "", command);
    }

    /** The script in a clone, for a pull request if that is for a branch. */
    private String check(Path repository, String base) throws IOException, InterruptedException {
        return run(repository, base, List.of(SCRIPT));
    }

    private String run(Path repository, String base, List<String> command) throws IOException, InterruptedException {
        Path log = Files.createTempFile(folder, "run", ".log");
        return Rehearsal.run(repository, log, Map.of("HOME", folder.toString(), "GITHUB_BASE_REF", base), command);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Fix a bug",
                "Speed up the build",
                "Bring back the option",
                "Pass the name on",
                "`lock` waits no more",
                "Say in a subject of exactly as many characters as it may have: 72 of all"
            })
    void aGoodSubjectPasses(String subject) throws Exception {
        commit(clone, subject);
        assertThat(check(clone, "")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "Say in a subject of exactly as many characters as it may not have: 73 all, has 73 characters",
        "fix a bug, begins without a capital letter",
        "Fix a bug., ends with a full stop",
        "Fixed a bug, is not in the imperative",
        "Fixes a bug, is not in the imperative",
        "Fixing a bug, is not in the imperative"
    })
    void aBadSubjectIsNamed(String subject, String reason) throws Exception {
        commit(clone, subject);
        commit(clone, "Fix another");
        assertThatThrownBy(() -> check(clone, ""))
                .hasMessageContaining(reason)
                .hasMessageContaining(": " + subject)
                .hasMessageNotContaining("Fix another");
    }

    /** The checkout of a pull request is its merge, whose subject is longer than 72 characters. */
    @Test
    void ofAPullRequestTheCommitsAreCheckedAndNotTheMerge() throws Exception {
        git(origin, "checkout", "--quiet", "-b", "base");
        commit(origin, "another old subject.");
        git(origin, "checkout", "--quiet", "-b", "change");
        commit(origin, "Fix a bug");
        Path good = pullRequest("good");
        assertThat(check(good, "base")).isEmpty();

        commit(origin, "Fixed a bug");
        commit(origin, "Fix another");
        Path bad = pullRequest("bad");
        assertThatThrownBy(() -> check(bad, "base"))
                .hasMessageContaining("is not in the imperative: Fixed a bug")
                .hasMessageNotContaining("old subject");
    }

    private Path pullRequest(String name) throws Exception {
        Path merged = clone(name);
        git(merged, "checkout", "--quiet", "--detach", "origin/base");
        String id = "0123456789abcdef0123456789abcdef01234567";
        git(merged, "merge", "--quiet", "--no-ff", "--message", "Merge " + id + " into " + id, "origin/change");
        return merged;
    }

    /** Its oldest commit may be a merge that has lost its parents. */
    @Test
    void ofACloneThatLacksCommitsTheOldestIsNotChecked() throws Exception {
        commit(origin, "an oldest subject.");
        Path shallow = clone("shallow", "--depth=1");
        assertThat(check(shallow, "")).contains("git fetch --unshallow");
        commit(shallow, "Fixed a bug");
        assertThatThrownBy(() -> check(shallow, ""))
                .hasMessageContaining("is not in the imperative: Fixed a bug")
                .hasMessageNotContaining("oldest");
    }

    @Test
    void theWorkflowFetchesAllCommits() throws IOException {
        assertThat(Project.root().resolve(".github/workflows/ci.yml"))
                .content()
                .containsPattern("uses: actions/checkout@\\S+\\n +with:\\n +fetch-depth: 0\\b");
    }
}
