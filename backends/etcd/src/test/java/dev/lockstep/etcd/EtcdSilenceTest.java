package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A member that is connected and says nothing. How long calls take then is a part of the contract. */
class EtcdSilenceTest extends SingleMemberTestCase {

    @Test
    void errorsNameTheMembers() {
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        String member = "127.0.0.1:" + proxy.port();
        LockClient client = connect(builder().url("etcd://" + member).requestTimeout(Duration.ofSeconds(1)));
        await("it is held", () -> {
            client.lock("held").lock();
            return true;
        });
        proxy.blackHole();
        assertThatThrownBy(client.lock(NAME)::lock)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(member);
        assertThatThrownBy(client.lock(NAME)::tryLock)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(member);
        assertThatThrownBy(client.lock("held")::unlock)
                .isInstanceOf(ReleaseNotConfirmedException.class)
                .hasMessageContaining(member);
        assertThatThrownBy(() -> client.list("orders:"))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(member)
                .hasMessageContaining("orders:");
    }
}
