package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.LockObserver;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dashboard, the alerts, the page about them and the command only name meters, labels and values that exist. */
class DashboardTest {
    static final Path DOCS = docs();
    private static final Pattern METRIC = Pattern.compile("lockstep_\\w+");
    private static final Pattern SELECTOR = Pattern.compile("(lockstep_\\w+)\\{([^}]*)}");
    private static final Pattern LABEL = Pattern.compile("(\\w+)(?:=~|!~|!=|=)");
    private static final Pattern VALUE = Pattern.compile("(\\w+)(?:!=|=)\"([^\"]*)\"");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    private static Path docs() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve(".mvn"))) {
            folder = Objects.requireNonNull(folder.getParent(), "a folder with .mvn");
        }
        return folder.resolve("docs");
    }

    DashboardTest() throws InterruptedException {
        LockMetrics metrics = new LockMetrics(registry);
        LockClient client =
                LockClient.builder().url("memory:").observer(metrics).connect();
        client.lock("a").acquire().close();
        metrics.requestEnded(new Request());
    }

    /** The memory engine makes no requests. */
    private record Request() implements LockObserver.Request {
        @Override
        public String kind() {
            return "acquire";
        }

        @Override
        public Duration duration() {
            return Duration.ofMillis(1);
        }

        @Override
        public Optional<Throwable> failure() {
            return Optional.empty();
        }
    }

    /** The names of the meters in Prometheus, with their labels. */
    private Map<String, Set<String>> published() {
        Map<String, Set<String>> found = new TreeMap<>();
        for (String line : registry.scrape().lines().toList()) {
            Matcher series = SELECTOR.matcher(line);
            if (series.find()) {
                found.computeIfAbsent(series.group(1), name -> new TreeSet<>()).addAll(labels(series.group(2)));
            }
        }
        return found;
    }

    /** The values of the labels of a metric that are published, each as {@code label=value}. */
    private Set<String> publishedValues(String metric) {
        Set<String> found = new TreeSet<>();
        registry.scrape()
                .lines()
                .filter(line -> line.startsWith(metric + "{"))
                .forEach(line -> found.addAll(values(line)));
        return found;
    }

    private static List<String> values(String selector) {
        return VALUE.matcher(selector)
                .results()
                .map(value -> value.group(1) + "=" + value.group(2))
                .toList();
    }

    private static List<String> labels(String selector) {
        List<String> labels = new ArrayList<>();
        Matcher label = LABEL.matcher(selector.replaceAll("\"[^\"]*\"", ""));
        while (label.find()) {
            labels.add(label.group(1));
        }
        return labels;
    }

    @ParameterizedTest
    @ValueSource(strings = {"grafana.json", "alerts.yml"})
    void everyMetricAndLabelExists(String file) throws IOException {
        String text =
                Files.readString(DOCS.resolve("observability").resolve(file)).replace("\\\"", "\"");
        Map<String, Set<String>> published = published();
        Matcher metric = METRIC.matcher(text);
        Set<String> used = new TreeSet<>();
        while (metric.find()) {
            used.add(metric.group());
        }
        used.remove("lockstep_lock_hold_seconds"); // of a sentence
        used.remove("lockstep_engine_request_seconds");
        assertThat(used).isNotEmpty();
        assertThat(published.keySet()).containsAll(used);
        Matcher selector = SELECTOR.matcher(text);
        while (selector.find()) {
            assertThat(published.get(selector.group(1))).as(selector.group()).containsAll(labels(selector.group(2)));
            assertThat(publishedValues(selector.group(1))).as(selector.group()).containsAll(values(selector.group(2)));
        }
        Matcher by = Pattern.compile("by \\(([^)]*)\\) \\((?:rate|increase)?\\(?(lockstep_\\w+)")
                .matcher(text);
        while (by.find()) {
            Set<String> known = new TreeSet<>(published.get(by.group(2)));
            known.addAll(List.of("job", "instance"));
            assertThat(known).as(by.group()).containsAll(List.of(by.group(1).split(", ")));
        }
    }

    @Test
    void variablesOfTheDashboardAreLabels() throws IOException {
        String dashboard = Files.readString(DOCS.resolve("observability/grafana.json"));
        List<MatchResult> variables = Pattern.compile("label_values\\((lockstep_\\w+)[^)]*, (\\w+)\\)")
                .matcher(dashboard)
                .results()
                .toList();
        assertThat(variables)
                .isNotEmpty()
                .allSatisfy(variable ->
                        assertThat(published().get(variable.group(1))).contains(variable.group(2)));
    }

    @Test
    void alertsUseLabelsThatTheirExpressionHas() throws IOException {
        String[] rules =
                Files.readString(DOCS.resolve("observability/alerts.yml")).split("- alert: ");
        assertThat(rules).hasSizeGreaterThan(1);
        for (int i = 1; i < rules.length; i++) {
            Matcher by = Pattern.compile("by \\(([^)]*)\\)").matcher(rules[i]);
            assertThat(by.find()).as(rules[i]).isTrue();
            Set<String> kept = Set.of(by.group(1).split(", "));
            assertThat(Pattern.compile("\\$labels\\.(\\w+)").matcher(rules[i]).results())
                    .as(rules[i])
                    .isNotEmpty()
                    .allMatch(label -> kept.contains(label.group(1)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"observability.md", "zh/observability.md"})
    void everyAlertIsOnThePage(String file) throws IOException {
        assertThat(names("(?m)^\\| `(Lock\\w+)` \\|", DOCS.resolve(file)))
                .isEqualTo(names("- alert: (\\w+)", DOCS.resolve("observability/alerts.yml")))
                .isNotEmpty();
    }

    /** The counters of watch and bench have the names of the meters. */
    @Test
    void commandUsesTheNamesOfMeters() throws IOException {
        Set<String> used = new TreeSet<>();
        for (String file : List.of("WatchCommand", "MeterCounts")) {
            used.addAll(names(
                    "\\b(lockstep\\.(?:lock|engine|renewal|fallback)\\.\\w+)",
                    DOCS.resolveSibling("tools/cli/src/main/java/dev/lockstep/cli/" + file + ".java")));
        }
        Set<String> meters = new TreeSet<>();
        registry.getMeters().forEach(meter -> meters.add(meter.getId().getName()));
        assertThat(used).hasSize(5);
        assertThat(meters).containsAll(used);
    }

    private static Set<String> names(String pattern, Path file) throws IOException {
        Set<String> found = new TreeSet<>();
        Pattern.compile(pattern).matcher(Files.readString(file)).results().forEach(name -> found.add(name.group(1)));
        return found;
    }

    @Test
    void everyMeterIsOnTheDashboard() throws IOException {
        String dashboard = Files.readString(DOCS.resolve("observability/grafana.json"));
        for (Meter meter : registry.getMeters()) {
            assertThat(dashboard).contains(meter.getId().getName().replace('.', '_'));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"observability.md", "zh/observability.md"})
    void everyMeterIsOnThePage(String file) throws IOException {
        Map<String, String> rows = new TreeMap<>();
        Matcher row = Pattern.compile("(?m)^\\| `(lockstep\\.\\S+)` \\| (timer|counter|gauge) \\| ([^|]*)\\|")
                .matcher(Files.readString(DOCS.resolve(file)));
        while (row.find()) {
            rows.put(row.group(1), row.group(2) + " " + row.group(3));
        }
        Set<String> existing = new TreeSet<>();
        for (Meter meter : registry.getMeters()) {
            existing.add(meter.getId().getName());
            String type = meter.getId().getType().name().toLowerCase(Locale.ROOT);
            assertThat(rows.get(meter.getId().getName())).startsWith(type);
            for (Tag tag : meter.getId().getTags()) {
                if (!Set.of("client", "engine", "mode", "group").contains(tag.getKey())) {
                    assertThat(rows.get(meter.getId().getName())).contains("`" + tag.getKey() + "`");
                }
            }
        }
        assertThat(rows.keySet()).isEqualTo(existing);
    }
}
