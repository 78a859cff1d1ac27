package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.etcd.Gateway.Kv;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Keys written by others, and settings that cannot work. */
class EtcdBadInputTest extends SingleMemberTestCase {

    @Test
    void noServer() {
        Duration timeout = Duration.ofSeconds(1);
        for (String endpoints : List.of("127.0.0.1:1,127.0.0.1:2", "no-such-host.invalid:2379")) {
            long start = System.nanoTime();
            assertThatThrownBy(() -> closedAfterwards(builder()
                            .url("etcd://" + endpoints)
                            .requestTimeout(timeout)
                            .connect()))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(endpoints);
            // It does not hang. Besides the request timeout, the machine may take some time to look a name up.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
        }
    }

    @Test
    void aTtlBelowWhatEtcdKeepsIsRefused() {
        assertThatThrownBy(() -> closedAfterwards(builder()
                        .url("etcd://" + server.address())
                        .ttl(Duration.ofSeconds(1))
                        .connect()))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("PT2S");
    }

    /** Leases last for one and a half election timeouts at least: a crash would cost more than the ttl. */
    @Test
    void aClusterThatRaisesTheTtlIsFoundOut() {
        EtcdServer patient = closedAfterwards(Servers.require(
                () -> EtcdServer.builder().flag("election-timeout", "4000").start()));
        assertThatThrownBy(() -> closedAfterwards(builder()
                        .url("etcd://" + patient.address())
                        .ttl(Duration.ofSeconds(5))
                        .connect()))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("PT6S");
        LockClient client = closedAfterwards(builder()
                .url("etcd://" + patient.address())
                .ttl(Duration.ofSeconds(6))
                .connect());
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
    }

    @Test
    void namesThatBeginAlikeOrHaveSlashesAreDifferentLocks() throws Exception {
        LockClient client = connect();
        LockClient rival = connect();
        List<String> names =
                List.of("a", "a/", "a/b", "a/w", "a/w/b", "a%2Fb", "a%", "/", "//", "%2F", "ab", "a@1", "w");
        for (String name : names) {
            assertThat(rival.lock(name).tryLock()).as(name).isTrue();
        }
        Set<String> keys = gateway.list("lockstep/" + namespace + "/lock/").stream()
                .map(Kv::key)
                .collect(Collectors.toSet());
        assertThat(keys).hasSize(names.size()).allMatch(key -> key.split("/").length == 6);
        assertThat(client.list("a/").stream().map(lock -> lock.name()))
                .containsExactlyInAnyOrder("a/", "a/b", "a/w", "a/w/b");
        assertThat(client.inspect("a").holders()).hasSize(1);
        for (String name : names) {
            rival.lock(name).unlock();
        }
    }

    @Test
    void namespacesDoNotMeet() throws Exception {
        LockClient one = closedAfterwards(builder()
                .namespace(namespace + "/x")
                .url("etcd://" + server.address())
                .connect());
        LockClient two = connect();
        one.lock(NAME).lock();
        assertThat(two.lock(NAME).tryLock()).isTrue();
        assertThat(two.list("")).hasSize(1);
        two.lock(NAME).unlock();
        one.lock(NAME).unlock();
    }

    @Test
    void keysOfStrangersInAQueueAreIgnored() throws Exception {
        LockClient client = connect();
        LockClient rival = connect();
        List<String> strange = List.of(
                "", "junk", "w/", "w/junk", "w/claim@ff", "r/x/y", "z/1.0", "w0", "w/0.0", "w/1.0", "w/2.0", "r/3.0");
        strange.forEach(key -> gateway.put(lockPrefix(NAME) + key, "?"));
        int count = gateway.list(lockPrefix(NAME)).size();
        for (int i = 0; i < 2; i++) {
            assertThat(client.lock(NAME).tryLock()).isTrue();
            assertThat(rival.lock(NAME).tryLock()).isFalse();
            assertThat(rival.readWriteLock(NAME).readLock().tryLock()).isFalse();
            assertThat(client.inspect(NAME).holders()).hasSize(1);
            CompletableFuture<Lease> waiting = rival.lock(NAME).acquireAsync();
            await("it waits", () -> client.inspect(NAME).waiters().size() == 1);
            client.lock(NAME).unlock();
            waiting.get().close();
            Lease reader = client.readWriteLock(NAME).readLock().acquireAsync().get();
            assertThat(rival.readWriteLock(NAME).readLock().tryLock()).isTrue();
            rival.readWriteLock(NAME).readLock().unlock();
            reader.close();
            // More of them, after the queue has been in use.
            gateway.put(lockPrefix(NAME) + "w/later", "?");
            count = gateway.list(lockPrefix(NAME)).size();
        }
        assertThat(client.forceRelease(NAME)).isFalse();
        assertThat(client.list("")).isEmpty();
        assertThat(gateway.list(lockPrefix(NAME))).hasSize(count);
    }

    @Test
    void clientsOfAnotherFormatAreNotJoined() {
        for (String session : List.of("0123456789abcdefghijkl@1f", "1/7", "3/7", "10/7")) {
            String key = "lockstep/" + namespace + "/client/" + session;
            gateway.put(key, "client=another");
            assertThatThrownBy(this::connect)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(namespace)
                    .hasMessageContaining("another version");
            gateway.delete(key);
        }
        connect().close();
    }

    @Test
    void aHoldersNoteThatCannotBeReadIsShownAsSuch() {
        assertThat(Operators.holder(Keys.bytes("nonsense\npid=x\nsince=yesterday\n=\n"))
                        .client())
                .isEqualTo("?");
        assertThat(Operators.holder(com.google.protobuf.ByteString.copyFrom(new byte[] {-1, 0, 10, 61}))
                        .pid())
                .isZero();
    }

    @Test
    void anEtcdWithoutSpaceRefusesClearlyAndStillReleases() throws Exception {
        EtcdServer full = closedAfterwards(Servers.require(() ->
                EtcdServer.builder().flag("quota-backend-bytes", "4000000").start()));
        LockClient client = connect("etcd://" + full.address());
        client.lock(NAME).lock();
        Gateway operator = new Gateway(full);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        operator.put("filler-" + i, "x".repeat(500_000));
                    }
                })
                .hasMessageContaining("space exceeded");
        assertThatThrownBy(client.lock("another")::tryLock)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("another")
                .hasMessageContaining("space exceeded");
        assertThatThrownBy(client.lock("another")::lock).isInstanceOf(LockUnavailableException.class);
        client.lock(NAME).unlock();
        assertThat(client.inspect(NAME).isFree()).isTrue();
    }
}
