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
        return new RedisSettings(() -> url(details));
    }

    private static String url(RedisConnectionDetails details) {
        RedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        if (sentinel != null) {
            return login(details, sentinel.getSslBundle() != null)
                    .sentinel(servers(sentinel.getNodes()), sentinel.getMaster(), sentinel.getDatabase());
        }
        RedisConnectionDetails.Cluster cluster = details.getCluster();
        if (cluster != null) {
            return login(details, cluster.getSslBundle() != null).cluster(servers(cluster.getNodes()));
        }
        RedisConnectionDetails.Standalone single = details.getStandalone();
        if (single == null) {
            throw RedisSettings.unknown();
        }
        return login(details, single.getSslBundle() != null)
                .single(RedisSettings.server(single.getHost(), single.getPort()), single.getDatabase());
    }

    private static RedisSettings.Login login(RedisConnectionDetails details, boolean tls) {
        return new RedisSettings.Login(details.getUsername(), details.getPassword(), tls);
    }

    private static List<String> servers(List<RedisConnectionDetails.Node> nodes) {
        return nodes.stream()
                .map(node -> RedisSettings.server(node.host(), node.port()))
                .toList();
    }
}
