package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.invoke.convert.ConversionServiceParameterValueMapper;
import org.springframework.boot.actuate.endpoint.web.EndpointMediaTypes;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpointDiscoverer;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Health, the endpoint and info. */
@Timeout(60)
class ActuatorTest {
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    LockstepAutoConfiguration.class,
                    LockstepActuatorAutoConfiguration.class,
                    EndpointAutoConfiguration.class))
            .withPropertyValues("management.endpoints.web.exposure.include=*");

    @Test
    void healthNamesTheEngine() {
        runner.run(context -> {
            Health health = context.getBean(HealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsKeys("engine", "version");
        });
        runner.withPropertyValues("management.health.locks.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
        runner.withPropertyValues("lockstep.url=memory:", "lockstep.clients.other.url=memory:")
                .run(context -> assertThat(
                                context.getBean(HealthIndicator.class).health().getDetails())
                        .containsKeys("lockClient", "other"));
    }

    @Test
    void healthIsDownWithinItsOwnTimeWhenTheEngineIsSilent() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start());
                TcpProxy proxy = TcpProxy.to(server.port())) {
            runner.withPropertyValues(
                            "lockstep.url=redis://127.0.0.1:" + proxy.port(),
                            "lockstep.request-timeout=30s",
                            "lockstep.health.timeout=5s") // a busy machine answers within that, too
                    .run(context -> {
                        HealthIndicator indicator = context.getBean(HealthIndicator.class);
                        assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
                        proxy.blackHole();
                        long start = System.nanoTime();
                        Health health = indicator.health();
                        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
                        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                        assertThat(health.getDetails().get("error")).isEqualTo("no answer within 5000 ms");
                        proxy.heal();
                    });
        }
    }

    /** They are asked at the same time, so silence does not add up. */
    @Test
    void healthOfSeveralSilentEnginesTakesTheTimeOfOne() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start());
                TcpProxy proxy = TcpProxy.to(server.port())) {
            String url = "redis://127.0.0.1:" + proxy.port();
            runner.withPropertyValues(
                            "lockstep.url=" + url, "lockstep.request-timeout=60s", "lockstep.health.timeout=1s")
                    .withPropertyValues(IntStream.range(0, 20)
                            .mapToObj(i -> "lockstep.clients.c" + i + ".url=" + url)
                            .toArray(String[]::new))
                    .withPropertyValues(IntStream.range(0, 20)
                            .mapToObj(i -> "lockstep.clients.c" + i + ".request-timeout=60s")
                            .toArray(String[]::new))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        proxy.blackHole();
                        long start = System.nanoTime();
                        Info.Builder info = new Info.Builder();
                        context.getBean(InfoContributor.class).contribute(info);
                        Health health = context.getBean(HealthIndicator.class).health();
                        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
                        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                        assertThat(health.getDetails()).hasSize(21);
                        assertThat(info.build().getDetails().toString()).contains("no answer within 1000 ms");
                        proxy.heal();
                    });
        }
    }

    @Test
    void healthShowsAFallback() {
        runner.withPropertyValues(
                        "lockstep.url=redis://127.0.0.1:1",
                        "lockstep.request-timeout=200ms",
                        "lockstep.fallback.to=jvm",
                        "lockstep.fallback.after=200ms",
                        "lockstep.health.fallback-status=OUT_OF_SERVICE")
                .run(context -> {
                    LockClient locks = context.getBean(LockClient.class);
                    try (Lease lease = locks.lock("a").acquire()) {
                        assertThat(lease.isFallback()).isTrue();
                    }
                    Health health = context.getBean(HealthIndicator.class).health();
                    assertThat(health.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
                    assertThat(health.getDetails()).containsEntry("fallback", true);
                });
    }

    private static Map<String, Long> operations(ApplicationContext context) {
        WebEndpointDiscoverer discoverer = new WebEndpointDiscoverer(
                context,
                new ConversionServiceParameterValueMapper(),
                EndpointMediaTypes.DEFAULT,
                null,
                null,
                List.of(),
                List.of(),
                List.of());
        return discoverer.getEndpoints().stream()
                .filter(endpoint -> endpoint.getEndpointId().toString().equals("locks"))
                .flatMap(endpoint -> endpoint.getOperations().stream())
                .collect(Collectors.groupingBy(
                        operation -> operation.getRequestPredicate().getHttpMethod() + " "
                                + operation.getRequestPredicate().getPath(),
                        Collectors.counting()));
    }

    @Test
    void theEndpointListsLocksAndReleasesThemOnlyIfAllowed() {
        runner.run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            try (Lease lease = locks.lock("order:42").acquire()) {
                LocksEndpoint.ClientView seen =
                        Objects.requireNonNull(endpoint.locks().get("lockClient"));
                assertThat(seen.error()).isEmpty();
                assertThat(seen.waiters()).isEmpty();
                assertThat(seen.holds()).singleElement().satisfies(hold -> {
                    assertThat(hold.lock()).isEqualTo("order:42");
                    assertThat(hold.thread()).isEqualTo(Thread.currentThread().getName());
                });
                assertThat(seen.locks()).singleElement().satisfies(lock -> {
                    assertThat(lease.isValid()).isTrue();
                    assertThat(lock.name()).isEqualTo("order:42");
                    assertThat(lock.holders().get(0).token()).matches("\\d+");
                    assertThat(lock.holders().get(0).client()).isEqualTo(locks.name());
                });
            }
            assertThat(endpoint.lock("order:42"))
                    .containsEntry("lockClient", new LocksEndpoint.LockView("order:42", List.of(), List.of()));
            assertThat(operations(context)).containsOnlyKeys("GET locks", "GET locks/{*name}");
        });
        runner.withPropertyValues("lockstep.endpoint.force-release=true").run(context -> {
            assertThat(operations(context)).containsOnlyKeys("GET locks", "GET locks/{*name}", "DELETE locks/{*name}");
        });
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        LockstepAutoConfiguration.class,
                        LockstepActuatorAutoConfiguration.class,
                        EndpointAutoConfiguration.class))
                .run(context -> assertThat(context).doesNotHaveBean(LocksEndpoint.class)); // not exposed by default
    }

    @Test
    void theEndpointShowsWhatThisProcessHoldsWhileTheEngineIsSilent() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start());
                TcpProxy proxy = TcpProxy.to(server.port())) {
            runner.withPropertyValues("lockstep.url=redis://127.0.0.1:" + proxy.port(), "lockstep.request-timeout=10s")
                    .run(context -> {
                        Lease lease =
                                context.getBean(LockClient.class).lock("a").acquire();
                        proxy.blackHole();
                        LocksEndpoint.ClientView seen = Objects.requireNonNull(
                                context.getBean(LocksEndpoint.class).locks().get("lockClient"));
                        assertThat(seen.locks()).isEmpty();
                        assertThat(seen.error()).contains("127.0.0.1");
                        assertThat(seen.holds()).hasSize(1);
                        assertThat(lease.isValid()).isTrue();
                        proxy.heal();
                        lease.close();
                    });
        }
    }

    @Test
    void infoNamesTheEngine() {
        runner.run(context -> {
            Info.Builder builder = new Info.Builder();
            context.getBean(InfoContributor.class).contribute(builder);
            assertThat(builder.build().getDetails())
                    .hasEntrySatisfying(
                            "locks", locks -> assertThat(locks.toString()).contains("lockClient", "engine="));
        });
        runner.withPropertyValues("management.info.locks.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(InfoContributor.class));
    }
}
