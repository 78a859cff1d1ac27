package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The space of a cluster: every lock and unlock stays in its history until that is compacted. */
class EtcdSpaceTest extends EtcdTestCase {
    private EtcdServer start(String quota) {
        return closedAfterwards(Servers.require(
                () -> EtcdServer.builder().flag("quota-backend-bytes", quota).start()));
    }

    private LockClient connect(EtcdServer server) {
        return closedAfterwards(builder()
                .url("etcd://" + server.address())
                .requestTimeout(Duration.ofSeconds(20))
                .connect());
    }

    private static void pair(LockClient client) {
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
    }

    @Test
    @Tag("full")
    void locksAloneUseUpTheSpaceAndWorkAgainOnceThereIsSome() throws Exception {
        EtcdServer server = start("600000");
        LockClient client = connect(server);
        client.lock("held").lock();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 5_000; i++) {
                        pair(client);
                    }
                })
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(NAME)
                .hasMessageContaining("space exceeded")
                .hasMessageContaining("Compact");
        assertThat(client.describe().limits())
                .anySatisfy(limit -> assertThat(limit).contains("alarm").contains("NOSPACE"));
        client.lock("held").unlock(); // what is held is still renewed, and can be released
        Gateway operator = new Gateway(server);
        operator.compact();
        operator.defragment();
        operator.noSpace(false);
        await("it goes on", () -> {
            pair(client);
            return true;
        });
        assertThat(client.describe().limits())
                .noneMatch(limit -> limit.contains("alarm"))
                .anyMatch(limit -> limit.contains("was compacted"));
    }

    @Test
    @Tag("full")
    void aPairWritesAsMuchAsDescribeSays() {
        EtcdServer server = start("0");
        LockClient client = connect(server);
        Gateway operator = new Gateway(server);
        pair(client);
        long before = operator.sizeInUse();
        long revision = operator.revision();
        int pairs = 2_000;
        for (int i = 0; i < pairs; i++) {
            pair(client);
        }
        assertThat(operator.revision() - revision).isEqualTo(2L * pairs);
        await("it is written", () -> operator.sizeInUse() > before);
        assertThat((operator.sizeInUse() - before) / pairs)
                .isBetween(History.BYTES_OF_A_PAIR / 2L, History.BYTES_OF_A_PAIR * 2L);
    }

    @Test
    void describeSaysHowMuchHistoryIsKept() throws Exception {
        EtcdServer server = start("0");
        LockClient client = connect(server);
        Gateway operator = new Gateway(server);
        for (int i = 0; i < 50; i++) {
            pair(client);
        }
        assertThat(client.describe().limits())
                .anySatisfy(limit -> assertThat(limit)
                        .contains("Nothing was compacted yet")
                        .contains("all " + operator.revision() + " revisions")
                        .contains("--auto-compaction-retention"));
        operator.compact();
        for (int i = 0; i < 50; i++) {
            pair(client);
        }
        long revision = operator.revision();
        assertThat(client.describe().limits())
                .anySatisfy(limit -> assertThat(limit)
                        .contains("of " + revision + " revisions about")
                        .contains("was compacted"));
    }
}
