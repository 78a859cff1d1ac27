package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.servers.Promtool;
import dev.lockstep.servers.ServerException;
import dev.lockstep.servers.Servers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Promtool evaluates the alerts with the times that they have: each fires after its time, and not before. */
@Tag("full")
class AlertRulesTest {
    private final Promtool promtool = Servers.require(Promtool::find);
    private final String rules;
    private final String tests;

    AlertRulesTest() throws IOException {
        rules = Files.readString(DashboardTest.DOCS.resolve("observability/alerts.yml"));
        try (InputStream file =
                Objects.requireNonNull(AlertRulesTest.class.getResourceAsStream("/alerts-tests.yml"), "the tests")) {
            tests = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void eachFiresWhenItShould() {
        assertThat(promtool.testRules(rules, tests)).contains("SUCCESS");
    }

    @Test
    void eachIsTested() {
        Pattern.compile("- alert: (\\w+)")
                .matcher(rules)
                .results()
                .forEach(rule -> assertThat(tests).contains("alertname=\"" + rule.group(1) + "\""));
    }

    /** So the tests look at thresholds, times and what is left out. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "'{reason!=\"client_closed\"}' | ''",
                "'[5m])) > 1' | '[5m])) > 0.8'",
                "'[5m])) > 1' | '[5m])) > 2'",
                "'for: 15s' | 'for: 5s'",
                "'for: 5m' | 'for: 1m'",
                "'reachable) == 0' | 'reachable) == 1'",
                "'active) == 1' | 'active) > 1'",
                "'{outcome=\"acquired\"}' | ''"
            })
    void aWrongRuleIsFound(String right, String wrong) {
        assertThat(rules).contains(right);
        assertThatThrownBy(() -> promtool.testRules(rules.replace(right, wrong), tests))
                .isInstanceOf(ServerException.class)
                .hasMessageContaining("FAILED");
    }
}
