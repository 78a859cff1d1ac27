package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UrlTargetTest {
    private static UrlTarget target(String url) {
        return new UrlTarget("some", url, Duration.ofSeconds(1));
    }

    @ParameterizedTest
    @CsvSource({
        "redis://127.0.0.2:1, redis://127.0.0.1:7",
        "redis://user:pa:ss@127.0.0.2:1/3?replicas=1, redis://user:pa:ss@127.0.0.1:7/3?replicas=1",
        "zookeeper://127.0.0.2:1/path, zookeeper://127.0.0.1:7/path",
        "etcd://127.0.0.2:1, etcd://127.0.0.1:7",
        "jdbc:postgresql://127.0.0.2:1/db?user=u&password=p, jdbc:postgresql://127.0.0.1:7/db?user=u&password=p",
        "jdbc:h2:tcp://127.0.0.2:1/./db;USER=u, jdbc:h2:tcp://127.0.0.1:7/./db;USER=u"
    })
    void theLinksToNamedServersAreBroken(String url, String through) {
        UrlTarget target = target(url);
        assertThat(target.servers()).containsExactly(new InetSocketAddress("127.0.0.2", 1));
        assertThat(target.url(List.of(7))).isEqualTo(through);
        assertThat(target.url(target.ports())).isEqualTo(url);
    }

    @Test
    void linksToSeveralServersAreBroken() {
        UrlTarget target = target("redlock://127.0.0.2:1,127.0.0.3:2?x=y");
        assertThat(target.servers())
                .containsExactly(new InetSocketAddress("127.0.0.2", 1), new InetSocketAddress("127.0.0.3", 2));
        assertThat(target.url(List.of(7, 8))).isEqualTo("redlock://127.0.0.1:7,127.0.0.1:8?x=y");
    }

    /** Clients get the addresses from the engine, or check the names, or there is no network. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis-sentinel://127.0.0.2:1/main",
                "redis-cluster://127.0.0.2:1",
                "rediss://127.0.0.2:1",
                "jdbc:postgresql://127.0.0.2:1/db?sslmode=verify-full",
                "jdbc:postgresql://127.0.0.2/db",
                "jdbc:sqlite:/some/file"
            })
    void otherServersAreLeftAlone(String url) {
        assertThat(target(url).servers()).isEmpty();
        assertThat(target(url).url(List.of())).isEqualTo(url);
    }
}
