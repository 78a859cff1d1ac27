package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A Prometheus that scrapes one page every second. Thread-safe. */
public final class PrometheusServer extends ServerProcess {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    /** How soon a probe is given up and repeated. The start fails only when {@code START_TIMEOUT} is over. */
    private static final int PROBE_MILLIS = 1_000;

    /** Ends a request that would hang; a healthy server answers sooner, on a busy machine too. */
    private static final int ANSWER_MILLIS = 20_000;

    private final Program program = Program.find("prometheus", "prometheus");
    private final Path configuration;

    private PrometheusServer(int scrapedPort, String rules) {
        super("prometheus", FreePorts.next(), START_TIMEOUT);
        Path ruleFile = write("rules.yml", rules.lines().toList());
        configuration = write(
                "prometheus.yml",
                List.of(
                        "global:",
                        "  scrape_interval: 1s",
                        "  evaluation_interval: 1s",
                        "rule_files: ['" + ruleFile + "']",
                        "scrape_configs:",
                        "  - job_name: locks",
                        "    static_configs:",
                        "      - targets: ['" + HOST + ":" + scrapedPort + "']"));
    }

    /**
     * Starts one.
     *
     * @param port where the page {@code /metrics} is, on this machine
     * @param rules the text of a file of rules, which it evaluates every second
     * @return the running server
     * @throws ServerUnavailableException if there is no Prometheus here
     * @throws ServerException if it does not start, as with wrong rules
     */
    public static PrometheusServer scraping(int port, String rules) {
        return ServerProcess.started(new PrometheusServer(port, rules));
    }

    /**
     * Asks for the value of an expression now.
     *
     * @param expression in PromQL
     * @return the answer, as JSON
     */
    public String query(String expression) {
        return get("/api/v1/query?query=" + encode(expression), ANSWER_MILLIS);
    }

    /**
     * Asks for the values of an expression, one for each second.
     *
     * @param expression in PromQL
     * @param fromSeconds the first second, since 1970
     * @param toSeconds the last
     * @return the answer, as JSON
     */
    public String queryRange(String expression, long fromSeconds, long toSeconds) {
        return get(
                "/api/v1/query_range?step=1&start=" + fromSeconds + "&end=" + toSeconds + "&query="
                        + encode(expression),
                ANSWER_MILLIS);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private String get(String path, int millis) {
        try {
            return read(path, millis);
        } catch (IOException e) {
            throw new ServerException(this + ": " + path, e);
        }
    }

    private String read(String path, int millis) throws IOException {
        URLConnection connection =
                URI.create("http://" + address() + path).toURL().openConnection();
        connection.setConnectTimeout(millis);
        connection.setReadTimeout(millis);
        try (InputStream answer = connection.getInputStream()) {
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Override
    Launch launch() {
        return Launch.of(
                program,
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + directory().resolve("data"),
                "--web.listen-address=" + address());
    }

    @Override
    boolean isReady() throws IOException {
        return read("/-/ready", PROBE_MILLIS).contains("Ready");
    }
}
