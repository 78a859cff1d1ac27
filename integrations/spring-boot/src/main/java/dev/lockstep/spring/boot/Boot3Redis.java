package dev.lockstep.spring.boot;

import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The application's Redis under Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails")
class Boot3Redis {
    @Bean
    @ConditionalOnBean(RedisConnectionDetails.class)
    RedisSettings redisSettings(RedisConnectionDetails details) {
        return () -> url(details);
    }

    private static String url(RedisConnectionDetails details) {
        if (details.getSentinel() != null) {
            RedisConnectionDetails.Sentinel sentinel = details.getSentinel();
            return RedisSettings.url(
                    "-sentinel",
                    sentinel.getSslBundle() != null,
                    details.getUsername(),
                    details.getPassword(),
                    sentinel.getNodes().stream()
                            .map(node -> RedisSettings.server(node.host(), node.port()))
                            .toList(),
                    "/" + RedisSettings.encode(sentinel.getMaster()) + "/" + sentinel.getDatabase());
        }
        if (details.getCluster() != null) {
            return RedisSettings.url(
                    "-cluster",
                    details.getCluster().getSslBundle() != null,
                    details.getUsername(),
                    details.getPassword(),
                    details.getCluster().getNodes().stream()
                            .map(node -> RedisSettings.server(node.host(), node.port()))
                            .toList(),
                    "");
        }
        RedisConnectionDetails.Standalone single = details.getStandalone();
        if (single == null) {
            throw new NoEngineException(
                    "The application's Redis is neither a single server nor Sentinels nor a cluster. Set"
                            + " lockstep.url.");
        }
        return RedisSettings.url(
                "",
                single.getSslBundle() != null,
                details.getUsername(),
                details.getPassword(),
                List.of(RedisSettings.server(single.getHost(), single.getPort())),
                "/" + single.getDatabase());
    }
}
