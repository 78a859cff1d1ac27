package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.actuate.autoconfigure.info.InfoContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.info.InfoEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The endpoints {@code locks} and {@code info} over HTTP, of a service with two clients, one of which has no engine. */
@Timeout(120)
class LocksEndpointHttpTest {
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        LockstepActuatorAutoConfiguration.class,
        InfoContributorAutoConfiguration.class,
        InfoEndpointAutoConfiguration.class
    })
    static class Service extends ConsoleEndpointTest.Service {}

    private static ConfigurableApplicationContext context;
    private static LockClient locks;

    @BeforeAll
    static void start() {
        context = SpringApplication.run(
                Service.class,
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--management.endpoints.web.exposure.include=locks,info",
                "--lockstep.endpoint.force-release=true",
                "--lockstep.url=memory:",
                "--lockstep.clients.dead.url=redis://127.0.0.1:1",
                "--lockstep.clients.dead.lazy-connect=true",
                "--lockstep.clients.dead.request-timeout=200ms");
        locks = context.getBean(LockClient.class);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    private static HttpResponse<String> send(String method, String path) throws Exception {
        String port = Objects.requireNonNull(context.getEnvironment().getProperty("local.server.port"));
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/" + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void locksAreListedAndADeadEngineIsNamed() throws Exception {
        try (Lease lease = locks.lock("order:42").acquire()) {
            HttpResponse<String> all = send("GET", "locks");
            assertThat(lease.isValid()).isTrue();
            assertThat(all.statusCode()).isEqualTo(200);
            assertThat(all.body()).contains("\"lockClient\"", "order:42", "\"dead\"", "127.0.0.1:1");
        }
    }

    @Test
    void aLockIsFoundWhateverItsName() throws Exception {
        for (String name : new String[] {"order:42", "path/to/order:42"}) {
            try (Lease lease = locks.lock(name).acquire()) {
                HttpResponse<String> one = send("GET", "locks/" + name);
                assertThat(one.statusCode()).isEqualTo(200);
                assertThat(one.body())
                        .contains("\"name\":\"" + name + "\"", "\"client\":\"" + locks.name() + "\"")
                        .contains("\"dead\":{\"error\":");
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    @Test
    void aLockIsReleasedByItsTokenOnly() throws Exception {
        locks.lock("path/to/stuck").acquire();
        long token = locks.inspect("path/to/stuck").holders().get(0).token().orElseThrow();
        String path = "locks/path/to/stuck";
        assertThat(send("DELETE", path).statusCode()).isEqualTo(400);
        assertThat(send("DELETE", path + "?token=" + token).statusCode())
                .as("which client")
                .isEqualTo(400);
        assertThat(send("DELETE", path + "?client=nobody&token=" + token).statusCode())
                .isEqualTo(400);
        assertThat(send("DELETE", path + "?client=lockClient&token=0").statusCode())
                .isEqualTo(400);
        HttpResponse<String> other = send("DELETE", path + "?client=lockClient&token=" + (token + 1_000_000));
        assertThat(other.body()).isEqualTo("{\"lockClient\":false}");
        assertThat(locks.inspect("path/to/stuck").isFree()).isFalse();
        HttpResponse<String> released = send("DELETE", path + "?client=lockClient&token=" + token);
        assertThat(released.body()).isEqualTo("{\"lockClient\":true}");
        assertThat(locks.inspect("path/to/stuck").isFree()).isTrue();
    }

    @Test
    void infoNamesTheEngines() throws Exception {
        HttpResponse<String> info = send("GET", "info");
        assertThat(info.statusCode()).isEqualTo(200);
        assertThat(info.body()).contains("\"locks\":", "\"lockClient\":", "\"guarantees\":", "\"dead\":{\"error\":");
    }
}
