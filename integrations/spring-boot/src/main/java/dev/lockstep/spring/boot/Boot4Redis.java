package dev.lockstep.spring.boot;

import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The application's Redis under Spring Boot 4; the same as under 3, but the types have other names. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails")
class Boot4Redis {
    @Bean
    @ConditionalOnBean(DataRedisConnectionDetails.class)
    RedisSettings redisSettings(DataRedisConnectionDetails details) {
        return new RedisSettings(() -> redis(details));
    }

    private static RedisSettings.Redis redis(DataRedisConnectionDetails details) {
        RedisSettings.Login login = new RedisSettings.Login(details.getUsername(), details.getPassword());
        DataRedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        if (sentinel != null) {
            return login.sentinel(
                    servers(sentinel.getNodes()),
                    sentinel.getMaster(),
                    sentinel.getDatabase(),
                    new RedisSettings.Login(sentinel.getUsername(), sentinel.getPassword()),
                    details.getSslBundle());
        }
        DataRedisConnectionDetails.Cluster cluster = details.getCluster();
        if (cluster != null) {
            return login.cluster(servers(cluster.getNodes()), details.getSslBundle());
        }
        DataRedisConnectionDetails.Standalone single = details.getStandalone();
        if (single == null) {
            throw RedisSettings.unknown();
        }
        return login.single(
                RedisSettings.server(single.getHost(), single.getPort()), single.getDatabase(), details.getSslBundle());
    }

    private static List<String> servers(List<DataRedisConnectionDetails.Node> nodes) {
        return nodes.stream()
                .map(node -> RedisSettings.server(node.host(), node.port()))
                .toList();
    }
}
