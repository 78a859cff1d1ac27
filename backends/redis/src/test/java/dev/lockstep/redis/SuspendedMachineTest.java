package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.SecondProcess;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A process whose machine was suspended: when it continues, its wall clock is ahead, and its monotonic clock is not. To
 * the process that is the same as a wall clock that is set forward.
 */
@Tag("full")
@Timeout(60)
class SuspendedMachineTest {
    private static final Duration TTL = Duration.ofSeconds(30);

    @Test
    void theFirstLookSeesThatTheLockIsGone() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start());
                HostFaults machine = Servers.require(HostFaults::create);
                SecondProcess holder = SecondProcess.start(server.url(), "suspended", TTL, machine.environment())) {
            assertThat(holder.ask("acquire a")).isEqualTo("ok");
            machine.clockOff(TTL.dividedBy(2));
            assertThat(holder.ask("valid a")).isEqualTo("true");
            machine.clockOff(Duration.ofHours(-1));
            assertThat(holder.ask("valid a")).isEqualTo("true");
            machine.clockOff(TTL);
            assertThat(holder.ask("valid a")).isEqualTo("false");
            machine.clockOff(Duration.ZERO);
            assertThat(holder.ask("valid a")).isEqualTo("false");
            assertThat(holder.ask("release a")).contains("LockLostException");
            assertThat(holder.ask("acquire a")).isEqualTo("ok");
            assertThat(holder.ask("valid a")).isEqualTo("true");
        }
    }
}
