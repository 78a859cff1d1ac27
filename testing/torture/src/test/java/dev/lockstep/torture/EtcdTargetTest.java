package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.servers.Servers;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which etcd servers may break exclusion when their leader was paused (etcd #15247). */
class EtcdTargetTest {
    @ParameterizedTest
    @ValueSource(strings = {"3.3.27", "3.4.0", "3.4.23", "3.4.30", "3.5.0", "3.5.12", "3.5.9-rc.1", "2.3.8"})
    void theseReleasesHaveTheBug(String version) {
        assertThat(EtcdTarget.endsRenewedLeases(version)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"3.4.31", "3.4.37", "3.5.13", "3.5.30", "3.5.16+git", "3.6.0", "3.6.0-rc.1", "3.10.1", "4.0.0"})
    void theseDoNot(String version) {
        assertThat(EtcdTarget.endsRenewedLeases(version)).isFalse();
    }

    @Test
    void textThatIsNoVersionIsAnError() {
        assertThatThrownBy(() -> EtcdTarget.endsRenewedLeases("unknown")).isInstanceOf(IllegalArgumentException.class);
    }

    @Tag("full")
    @Test
    void theRunningServersSayWhichVersionTheyHave() {
        try (EtcdTarget target = Servers.require(EtcdTarget::new)) {
            Set<Rule> expected =
                    EtcdTarget.endsRenewedLeases(target.version()) ? Set.of(Rule.EXCLUSION, Rule.ORDER) : Set.of();
            assertThat(target.faults())
                    .filteredOn(fault -> fault.kind().equals("leader paused beyond the ttl"))
                    .singleElement()
                    .satisfies(fault -> assertThat(fault.excuses()).isEqualTo(expected));
        }
    }
}
