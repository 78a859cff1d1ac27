package dev.lockstep.spring.boot;

import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The application's Redis under Spring Boot 3; the same as under 4, but the types have other names. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails")
class Boot3Redis {
    @Bean
    @ConditionalOnBean(RedisConnectionDetails.class)
    RedisSettings redisSettings(RedisConnectionDetails details) {
        return new RedisSettings(() -> redis(details));
    }

    private static RedisSettings.Redis redis(RedisConnectionDetails details) {
        RedisSettings.Login login = new RedisSettings.Login(details.getUsername(), details.getPassword());
        RedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        if (sentinel != null) {
            return login.sentinel(
                    servers(sentinel.getNodes()),
                    sentinel.getMaster(),
                    sentinel.getDatabase(),
                    new RedisSettings.Login(sentinel.getUsername(), sentinel.getPassword()),
                    sentinel.getSslBundle());
        }
        RedisConnectionDetails.Cluster cluster = details.getCluster();
        if (cluster != null) {
            return login.cluster(servers(cluster.getNodes()), cluster.getSslBundle());
        }
        RedisConnectionDetails.Standalone single = details.getStandalone();
        if (single == null) {
            throw RedisSettings.unknown();
        }
        return login.single(
                RedisSettings.server(single.getHost(), single.getPort()), single.getDatabase(), single.getSslBundle());
    }

    private static List<String> servers(List<RedisConnectionDetails.Node> nodes) {
        return nodes.stream()
                .map(node -> RedisSettings.server(node.host(), node.port()))
                .toList();
    }
}
