package dev.lockstep.spring.boot;

import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The application's Redis under Spring Boot 4. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails")
class Boot4Redis {
    @Bean
    @ConditionalOnBean(DataRedisConnectionDetails.class)
    RedisSettings redisSettings(DataRedisConnectionDetails details) {
        return () -> url(details);
    }

    private static String url(DataRedisConnectionDetails details) {
        if (details.getSentinel() != null) {
            DataRedisConnectionDetails.Sentinel sentinel = details.getSentinel();
            return RedisSettings.url(
                    "-sentinel",
                    details.getSslBundle() != null,
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
                    details.getSslBundle() != null,
                    details.getUsername(),
                    details.getPassword(),
                    details.getCluster().getNodes().stream()
                            .map(node -> RedisSettings.server(node.host(), node.port()))
                            .toList(),
                    "");
        }
        DataRedisConnectionDetails.Standalone single = details.getStandalone();
        if (single == null) {
            throw new NoEngineException(
                    "The application's Redis is neither a single server nor Sentinels nor a cluster. Set"
                            + " lockstep.url.");
        }
        return RedisSettings.url(
                "",
                details.getSslBundle() != null,
                details.getUsername(),
                details.getPassword(),
                List.of(RedisSettings.server(single.getHost(), single.getPort())),
                "/" + single.getDatabase());
    }
}
