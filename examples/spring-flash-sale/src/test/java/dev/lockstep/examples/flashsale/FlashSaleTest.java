package dev.lockstep.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The service sells what it has, and gives every buyer a true answer. */
@Timeout(120)
class FlashSaleTest {
    @Test
    void oneInstanceSellsWhatItHasAndShowsIt() throws Exception {
        try (PostgresServer database =
                Servers.require(() -> PostgresServer.builder().start())) {
            List<String> properties = new ArrayList<>(Demo.withDatabase(database, List.of()));
            properties.addAll(List.of(
                    "--server.tomcat.basedir=target/tomcat",
                    "--server.port=0",
                    "--flashsale.stock=20",
                    "--flashsale.instance=one"));
            try (ConfigurableApplicationContext context =
                    SpringApplication.run(FlashSaleApplication.class, properties.toArray(String[]::new))) {
                String url = "http://localhost:"
                        + Objects.requireNonNull(context.getEnvironment().getProperty("local.server.port"));
                Buyers buyers = new Buyers(List.of(url));
                buyers.run(30, 8);
                assertThat(buyers.sold()).hasSize(20);
                assertThat(buyers.turnedAway()).isEqualTo(10);
                assertThat(get(url + "/state"))
                        .contains("\"instance\":\"one\"", "\"left\":0", "\"sold\":20", "\"engine\":\"PostgreSQL\"");
                assertThat(get(url + "/")).contains("<title>Flash sale</title>");
                assertThat(get(url + "/actuator/health")).contains("\"locks\":{\"status\":\"UP\"");
                post(url + "/restock?amount=5");
                assertThat(get(url + "/state")).contains("\"left\":5", "\"sold\":0");
            }
        }
    }

    private static String get(String url) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(url)).build());
    }

    private static void post(String url) throws Exception {
        send(HttpRequest.newBuilder(URI.create(url))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build());
    }

    private static String send(HttpRequest request) throws Exception {
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        return answer.body();
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"the same database", "redis", "etcd", "zookeeper"})
    void whenAnInstanceIsKilledSoldIsInformedIsStock(String engine) throws Exception {
        try (PostgresServer database =
                        Servers.require(() -> PostgresServer.builder().start());
                ServerProcess server = start(engine)) {
            Demo.Result result = Demo.sell(
                    database,
                    server == null ? List.of() : List.of("--lockstep.url=" + engine + "://" + server.address()));
            assertThat(result.isRight()).as(result.toString()).isTrue();
            assertThat(result.turnedAway())
                    .isEqualTo(Demo.BUYERS - result.informed().size());
            assertThat(result.repeated()).as("orders without an answer").isPositive();
        }
    }

    private static @Nullable ServerProcess start(String engine) {
        return switch (engine) {
            case "redis" -> Servers.require(() -> RedisServer.builder().start());
            case "etcd" -> Servers.require(() -> EtcdServer.builder().start());
            case "zookeeper" -> Servers.require(() -> ZooKeeperServer.builder().start());
            default -> null;
        };
    }
}
