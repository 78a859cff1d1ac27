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
        return new RedisSettings(() -> url(details));
    }

    private static String url(DataRedisConnectionDetails details) {
        DataRedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        if (sentinel != null) {
            return login(details, details.getSslBundle() != null)
                    .sentinel(servers(sentinel.getNodes()), sentinel.getMaster(), sentinel.getDatabase());
        }
        DataRedisConnectionDetails.Cluster cluster = details.getCluster();
        if (cluster != null) {
            return login(details, details.getSslBundle() != null).cluster(servers(cluster.getNodes()));
        }
        DataRedisConnectionDetails.Standalone single = details.getStandalone();
        if (single == null) {
            throw RedisSettings.unknown();
        }
        return login(details, details.getSslBundle() != null)
                .single(RedisSettings.server(single.getHost(), single.getPort()), single.getDatabase());
    }

    private static RedisSettings.Login login(DataRedisConnectionDetails details, boolean tls) {
        return new RedisSettings.Login(details.getUsername(), details.getPassword(), tls);
    }

    private static List<String> servers(List<DataRedisConnectionDetails.Node> nodes) {
        return nodes.stream()
                .map(node -> RedisSettings.server(node.host(), node.port()))
                .toList();
    }
}
