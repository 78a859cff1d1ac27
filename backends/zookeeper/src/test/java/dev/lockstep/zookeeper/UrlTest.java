package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UrlTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "?",
                "?&",
                "?queue=off&",
                "?queue=",
                "?sasl=",
                "?zookeeper.=s3cret",
                "?zookeeper.x=",
                "?queue=off&queue=off",
                "?queue=off&queue=on",
                "?tls=on&sasl=s3cret&tls=on",
                "?zookeeper.x=s3cret&zookeeper.x=s3cret",
                "?Queue=off",
                "?TLS=on",
                "?queue=OFF",
                "?Zookeeper.x=s3cret"
            })
    void mistakesInOptionsAreRejected(String options) {
        assertThatThrownBy(() -> Url.parse("zookeeper://orders:s3cret@localhost" + options))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageNotContaining("s3cret");
    }

    @ParameterizedTest
    @CsvSource({
        "?queue=off&queue=on, queue",
        "?zookeeper.x=s3cret&zookeeper.x=s3cret, zookeeper.x",
        "?passwordFile=s3cret&passwordFile=s3cret, passwordFile",
        "?passwordFile=s3cret&queue=off&passwordFile=, passwordFile"
    })
    void anOptionThatIsGivenTwiceIsNamed(String options, String name) {
        assertThatThrownBy(() -> Url.parse("zookeeper://orders@localhost" + options))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(name + " twice")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void optionsAreReadInAnyOrder() {
        assertThat(Url.parse("zookeeper://localhost?zookeeper.x=a&queue=off&zookeeper.y=b")
                        .isQueued())
                .isFalse();
    }
}
