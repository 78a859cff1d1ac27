package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.lockstep.DistributedLock;
import dev.lockstep.Fallback;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.PrometheusServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A run that Prometheus watches: locks that many want, an outage of Redis, a fallback, and an operator who releases locks by
 * force. All alerts fire. {@code -Ddocs.write=true} draws the pictures of docs/observability.md from it.
 */
@Tag("full")
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class PrometheusTest {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private volatile boolean over;

    @Test
    void alertsFireAndTheirFiguresAreThoseOfTheRun() throws Exception {
        // The same rules, for a run of a minute.
        String rules = Files.readString(DashboardTest.DOCS.resolve("observability/alerts.yml"))
                .replace("[5m]", "[10s]")
                .replaceAll("for: \\w+", "for: 2s")
                .replace(" > 1\n", " > 0.1\n");
        HttpServer page = page();
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                TcpProxy proxy = TcpProxy.to(redis);
                PrometheusServer prometheus = Servers.require(
                        () -> PrometheusServer.scraping(page.getAddress().getPort(), rules));
                LockClient operator = LockClient.connect(redis.url());
                LockClient shop = client(proxy, "shop", Fallback.failFast());
                LockClient jobs = client(proxy, "jobs", Fallback.thisJvmOnly().after(Duration.ofSeconds(2)))) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                threads.add(worker(shop.lock("order:1"), 50));
                threads.add(worker(shop.lock("stock:" + i), 5));
            }
            threads.add(worker(jobs.lock("report"), 20));
            threads.add(worker(shop.lock("stuck"), 5));
            Lease stuck = operator.lock("stuck").acquireUninterruptibly();
            long start = Instant.now().getEpochSecond(); // of the pictures
            threads.forEach(Thread::start);
            Lease lasting = shop.lock("lasting").acquireUninterruptibly();
            TimeUnit.SECONDS.sleep(15);
            await(prometheus, "LockStuck");
            operator.forceRelease("order:1");
            TimeUnit.SECONDS.sleep(5);
            proxy.blackHole();
            await(prometheus, "LockEngineUnreachable", "LockFallbackActive", "LockRenewalsFail", "LockLost");
            TimeUnit.SECONDS.sleep(5);
            proxy.heal();
            TimeUnit.SECONDS.sleep(15);
            await(prometheus, "LockWaitsAreLong");
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !alerts(prometheus, "LockEngineUnreachable"));
            dashboardHasFigures(prometheus);
            over = true;
            stuck.close();
            for (Thread thread : threads) {
                thread.join();
            }
            TimeUnit.SECONDS.sleep(2);
            assertThat(lasting.isValid()).isFalse();
            long expired = new Meters(registry).counter(LockMeters.LOST, "reason", "expired");
            assertThat(prometheus.query("sum(lockstep_lock_lost_total{reason=\"expired\"})"))
                    .contains("\"" + expired + "\"");
            if (Boolean.getBoolean("docs.write")) {
                draw(prometheus, start, Instant.now().getEpochSecond());
            }
        } finally {
            page.stop(0);
        }
    }

    /** Prometheus understands each expression of the dashboard, and has something for it. */
    private static void dashboardHasFigures(PrometheusServer prometheus) throws IOException {
        String dashboard = Files.readString(DashboardTest.DOCS.resolve("observability/grafana.json"));
        List<String> expressions = Pattern.compile("\"expr\": *\"((?:[^\"\\\\]|\\\\.)*)\"")
                .matcher(dashboard)
                .results()
                .map(found -> found.group(1).replace("\\\"", "\""))
                .toList();
        assertThat(expressions).hasSizeGreaterThan(10);
        for (String expression : expressions) {
            String asked = expression
                    .replace("$__rate_interval", "1m")
                    .replace("$__range", "2m")
                    .replace("$client", ".*")
                    .replace("$group", ".*");
            assertThat(prometheus.query(asked))
                    .as(asked)
                    .contains("\"success\"")
                    .contains("\"value\":");
        }
    }

    private HttpServer page() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> {
            byte[] text = registry.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, text.length);
            try (exchange) {
                exchange.getResponseBody().write(text);
            }
        });
        server.start();
        return server;
    }

    private LockClient client(TcpProxy proxy, String name, Fallback fallback) {
        return LockClient.builder()
                .url("redis://127.0.0.1:" + proxy.port())
                .clientName(name)
                .ttl(Duration.ofSeconds(4))
                .requestTimeout(Duration.ofSeconds(1))
                .fallback(fallback)
                .observer(new LockMetrics(registry))
                .connect();
    }

    private Thread worker(DistributedLock lock, long millis) {
        return new Thread(() -> {
            while (!over) {
                try (Lease lease = lock.acquire()) {
                    TimeUnit.MILLISECONDS.sleep(millis);
                } catch (InterruptedException e) {
                    return;
                } catch (RuntimeException e) {
                    // An outage, or a loss: what this is about.
                }
            }
        });
    }

    private static void await(PrometheusServer prometheus, String... alerts) {
        for (String alert : alerts) {
            Awaitility.await(alert).atMost(Duration.ofSeconds(30)).until(() -> alerts(prometheus, alert));
        }
    }

    private static boolean alerts(PrometheusServer prometheus, String alert) {
        return prometheus
                .query("ALERTS{alertstate=\"firing\",alertname=\"" + alert + "\"}")
                .contains("\"" + alert + "\"");
    }

    private static void draw(PrometheusServer prometheus, long start, long end) throws IOException {
        Map<String, String> pictures = Map.of(
                "calls", "sum by (outcome) (rate(lockstep_lock_acquire_seconds_count[5s]))",
                "waiting", "sum by (group) (lockstep_lock_waiting)",
                "reachable", "min by (client) (lockstep_engine_reachable)",
                "lost", "sum by (reason) (lockstep_lock_lost_total{reason!=\"client_closed\"}) > 0");
        for (Map.Entry<String, String> picture : pictures.entrySet()) {
            Path file = DashboardTest.DOCS.resolve("observability/" + picture.getKey() + ".svg");
            String json = prometheus.queryRange(picture.getValue(), start, end);
            Files.writeString(file, Chart.svg(picture.getValue().replace(">", "&gt;"), start, end, Chart.series(json)));
        }
    }
}
