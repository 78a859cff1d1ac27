package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class BenchTest {
    private int tries;

    /** An engine that is away for the first two clients. */
    private final BackendFixture fixture = new BackendFixture() {
        @Override
        public LockClient open(LockClient.Builder builder) {
            tries++;
            if (tries < 3) {
                throw new LockUnavailableException(null, "away");
            }
            return builder.url("memory:").connect();
        }

        @Override
        public Set<Capability> capabilities() {
            return EnumSet.noneOf(Capability.class);
        }
    };

    private final Bench bench = new Bench(fixture);

    @Test
    void aClientThatCannotConnectIsNotTriedAgain() {
        assertThatThrownBy(() -> bench.open(UnaryOperator.identity())).isInstanceOf(LockUnavailableException.class);
        assertThat(tries).isEqualTo(1);
    }

    @Test
    void aTestThatSaysWhyTriesAgain() {
        bench.openRetrying("the test is about that", UnaryOperator.identity()).close();
        assertThat(tries).isEqualTo(3);
    }
}
