package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Fallback;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** A user's own transaction that applies only while a lock is held. */
class EtcdGuardTest extends SingleMemberTestCase {

    /** Puts a key of the user's, by another client than Lockstep's. */
    private boolean putGuarded(EtcdGuard guard, String key, String value) {
        String compare = "{\"target\":\"CREATE\",\"result\":\"EQUAL\",\"key\":\""
                + Base64.getEncoder().encodeToString(guard.key()) + "\",\"create_revision\":\"" + guard.createRevision()
                + "\"}";
        String put = "{\"request_put\":{\"key\":\"" + Gateway.base64(key) + "\",\"value\":\"" + Gateway.base64(value)
                + "\"}}";
        return gateway.post("/v3/kv/txn", "{\"compare\":[" + compare + "],\"success\":[" + put + "]}")
                .contains("\"succeeded\":true");
    }

    @Test
    void aTransactionAppliesOnlyWhileTheLockIsHeld() throws Exception {
        LockClient client = connect();
        LockClient rival = connect();
        EtcdGuard guard;
        try (Lease lease = client.lock(NAME).acquire()) {
            guard = EtcdGuard.of(lease);
            assertThat(guard.createRevision()).isEqualTo(lease.token() >> 10);
            assertThat(putGuarded(guard, namespace, "1")).isTrue();
        }
        assertThat(putGuarded(guard, namespace, "2")).isFalse();
        try (Lease lease = rival.lock(NAME).acquire()) {
            assertThat(putGuarded(guard, namespace, "3")).isFalse();
            EtcdGuard next = EtcdGuard.of(lease);
            assertThat(putGuarded(next, namespace, "4")).isTrue();
            client.forceRelease(NAME);
            assertThat(putGuarded(next, namespace, "5")).isFalse();
            await("it knows", () -> !lease.isValid());
            assertThatThrownBy(() -> EtcdGuard.of(lease)).isInstanceOf(LockLostException.class);
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        }
        assertThat(gateway.list(namespace))
                .singleElement()
                .matches(kv -> kv.value().equals("4"));
    }

    @Test
    void itSaysTheComparisonAsEtcdctlReadsIt() throws Exception {
        LockClient client = connect();
        try (Lease lease = client.lock(NAME).acquire()) {
            assertThat(EtcdGuard.of(lease).toString())
                    .startsWith("create(\"" + lockPrefix(NAME) + "w/")
                    .endsWith("\") = \"" + (lease.token() >> 10) + "\"");
        }
    }

    @Test
    void aClientWithAFallbackHasGuardsToo() throws Exception {
        LockClient client = closedAfterwards(builder()
                .url("etcd://" + server.address())
                .fallback(Fallback.thisJvmOnly())
                .connect());
        try (Lease lease = client.lock(NAME).acquire()) {
            assertThat(putGuarded(EtcdGuard.of(lease), namespace, "1")).isTrue();
        }
    }

    @Test
    void onlyAHoldOfOneLockOnEtcdHasOne() throws Exception {
        LockClient client = connect();
        try (Lease lease = client.multiLock("one", "two").acquire()) {
            assertThatThrownBy(() -> EtcdGuard.of(lease)).isInstanceOf(LockConfigurationException.class);
        }
        LockClient memory = connect("memory:");
        try (Lease lease = memory.lock(NAME).acquire()) {
            assertThatThrownBy(() -> EtcdGuard.of(lease))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(NAME);
        }
        Lease closed = client.lock(NAME).acquireAsync().get();
        closed.close();
        assertThatThrownBy(() -> EtcdGuard.of(closed)).isInstanceOf(IllegalStateException.class);
    }
}
