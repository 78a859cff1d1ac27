package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.KeyStore;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;

/** The application's Redis, as a URL: a single server, Sentinels, a cluster, TLS. */
class RedisSettingsTest {
    /** The URLs made from the settings of an application; nothing connects. */
    private static String url(String... properties) {
        StringBuilder url = new StringBuilder();
        new ApplicationContextRunner()
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, LockstepAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.client-type=lettuce") // not here, so that nothing connects
                .withPropertyValues(properties)
                .run(context -> url.append(context.getBean(RedisSettings.class).url()));
        return url.toString();
    }

    @Test
    void aSingleServer() {
        assertThat(url()).isEqualTo("redis://localhost:6379/0");
        assertThat(url("spring.data.redis.host=::1", "spring.data.redis.port=7000", "spring.data.redis.database=3"))
                .isEqualTo("redis://[::1]:7000/3");
        assertThat(url("spring.data.redis.password=a b/@:%")).isEqualTo("redis://:a%20b%2F%40%3A%25@localhost:6379/0");
        assertThat(url("spring.data.redis.username=eve", "spring.data.redis.password=x"))
                .isEqualTo("redis://eve:x@localhost:6379/0");
    }

    @Test
    void sentinels() {
        assertThat(url(
                        "spring.data.redis.sentinel.master=my primary",
                        "spring.data.redis.sentinel.nodes=a:1,b:2",
                        "spring.data.redis.password=x",
                        "spring.data.redis.database=2"))
                .isEqualTo("redis-sentinel://:x@a:1,b:2/my%20primary/2");
    }

    @Test
    void aCluster() {
        assertThat(url("spring.data.redis.cluster.nodes=a:1,b:2")).isEqualTo("redis-cluster://a:1,b:2");
    }

    @Test
    void tlsWithTheTrustOfTheJvm() {
        assertThat(url("spring.data.redis.ssl.enabled=true")).isEqualTo("rediss://localhost:6379/0");
        assertThat(url("spring.data.redis.ssl.enabled=true", "spring.data.redis.cluster.nodes=a:1"))
                .isEqualTo("rediss-cluster://a:1");
        assertThat(url(
                        "spring.data.redis.ssl.enabled=true",
                        "spring.data.redis.sentinel.master=m",
                        "spring.data.redis.sentinel.nodes=a:1"))
                .isEqualTo("rediss-sentinel://a:1/m/0");
    }

    @Test
    void aPasswordOfSentinelsIsRefused() {
        assertThatThrownBy(() -> url(
                        "spring.data.redis.sentinel.master=m",
                        "spring.data.redis.sentinel.nodes=a:1",
                        "spring.data.redis.sentinel.password=s3cret"))
                .hasStackTraceContaining("spring.data.redis.sentinel.password")
                .hasStackTraceContaining("RedisEngine.on(jedis)")
                .satisfies(e -> assertThat(e.toString()).doesNotContain("s3cret"));
    }

    /** Boot 4 has the same under other names; here without its auto-configuration, which needs more of it. */
    @Test
    void springBoot4() throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        SslBundle own = SslBundle.of(SslStoreBundle.of(null, null, trusted));
        assertThat(boot4(details(null, null))).isEqualTo("redis://h:1/5");
        assertThat(boot4(details("s3cret", null))).isEqualTo("redis://:s3cret@h:1/5");
        assertThat(boot4(details(null, SslBundle.systemDefault()))).isEqualTo("rediss://h:1/5");
        assertThatThrownBy(() -> boot4(details(null, own)))
                .isInstanceOf(NoEngineException.class)
                .hasMessageContaining("lockstep.url=rediss://…, with ?ca=FILE");
        assertThat(boot4(new DataRedisConnectionDetails() {
                    @Override
                    public Cluster getCluster() {
                        return () -> List.of(new Node("a", 1), new Node("b", 2));
                    }
                }))
                .isEqualTo("redis-cluster://a:1,b:2");
        assertThatThrownBy(() -> boot4(new DataRedisConnectionDetails() {}))
                .isInstanceOf(NoEngineException.class)
                .hasMessageContaining("neither a single server");
    }

    private static DataRedisConnectionDetails details(@Nullable String password, @Nullable SslBundle bundle) {
        return new DataRedisConnectionDetails() {
            @Override
            public @Nullable String getPassword() {
                return password;
            }

            @Override
            public @Nullable SslBundle getSslBundle() {
                return bundle;
            }

            @Override
            public Standalone getStandalone() {
                return Standalone.of("h", 1, 5);
            }
        };
    }

    private static String boot4(DataRedisConnectionDetails details) {
        return new Boot4Redis().redisSettings(details).url();
    }

    /** As Testcontainers' @ServiceConnection and Docker Compose define them. */
    @Test
    void connectionDetailsOfTheApplicationsRedisAreUsed() {
        new ApplicationContextRunner()
                .withUserConfiguration(Details.class, Boot3Redis.class)
                .run(context ->
                        assertThat(context.getBean(RedisSettings.class).url()).isEqualTo("redis://container:32768/0"));
    }

    static class Details {
        @Bean
        RedisConnectionDetails details() {
            return new RedisConnectionDetails() {
                @Override
                public Standalone getStandalone() {
                    return Standalone.of("container", 32_768);
                }
            };
        }
    }
}
