package dev.lockstep.servers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Prometheus' own tool that tests rules with series that a file describes. Thread-safe. */
public final class Promtool {
    /** Ends a run that would hang. A run takes a second at most, on a busy machine some more. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Program program = Program.find("prometheus", "prometheus").sibling("promtool");

    private Promtool() {}

    /**
     * Finds it.
     *
     * @return the tool
     * @throws ServerUnavailableException if there is no Prometheus here
     */
    public static Promtool find() {
        return new Promtool();
    }

    /**
     * Tests rules.
     *
     * @param rules the text of a file of rules
     * @param tests the text of a file of tests, whose {@code rule_files} are {@code [rules.yml]}
     * @return what the tool says of tests that pass
     * @throws ServerException if a test fails or a file is wrong, with what the tool says of it
     */
    public String testRules(String rules, String tests) {
        try {
            Path folder = Files.createTempDirectory("lockstep-promtool-");
            Path ruleFile = folder.resolve("rules.yml");
            Path testFile = folder.resolve("tests.yml");
            try {
                Files.writeString(ruleFile, rules, StandardCharsets.UTF_8);
                Files.writeString(testFile, tests, StandardCharsets.UTF_8);
                return Commands.run(folder, TIMEOUT, Launch.of(program, "test", "rules", testFile.toString()));
            } finally {
                Files.deleteIfExists(ruleFile);
                Files.deleteIfExists(testFile);
                Files.deleteIfExists(folder);
            }
        } catch (IOException e) {
            throw new ServerException("promtool: " + e.getMessage(), e);
        }
    }
}
