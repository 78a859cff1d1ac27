package dev.lockstep.internal.client;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A URL whose engine is not on the class path; here only memory is. */
class MissingEngineTest {
    @ParameterizedTest
    @CsvSource({
        "redis, redis",
        "rediss, redis",
        "redis-sentinel, redis",
        "rediss-sentinel, redis",
        "redis-cluster, redis",
        "rediss-cluster, redis",
        "redlock, redis",
        "redlocks, redis",
        "zookeeper, zookeeper",
        "etcd, etcd",
        "etcds, etcd",
        "jdbc, jdbc"
    })
    void theErrorNamesItsArtifact(String scheme, String artifact) {
        assertThatThrownBy(() -> LockClient.connect(scheme + "://secret@host"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessage("No engine for '" + scheme
                        + ":' is on the class path. Add the artifact dev.lockstep:lockstep-" + artifact + ".");
    }
}
