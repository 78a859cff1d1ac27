package dev.lockstep.internal.fallback;

import static dev.lockstep.internal.fallback.FallbackFixture.MAX_BACKOFF;
import static dev.lockstep.internal.fallback.FallbackFixture.REQUEST_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.client.Client;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.VirtualScheduler;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A client whose engine is down when it is opened. */
class FallbackStartTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final ScriptedBackend primary = new ScriptedBackend(time);
    private final ScriptedBackend fallback = new ScriptedBackend(time);
    private @Nullable RuntimeException refusal = new LockUnavailableException(null, "down");

    private final BackendFactory engine = context -> {
        if (refusal != null) {
            throw refusal;
        }
        return primary;
    };

    private Client open(LockBackend other) {
        primary.answersAtOnce = true;
        fallback.answersAtOnce = true;
        return FallbackFixture.open(engine, context -> other, time, event -> {});
    }

    private void letProbesPass() {
        time.advance(REQUEST_TIMEOUT.plus(MAX_BACKOFF));
    }

    @Test
    void beginsInFallbackAndGoesToTheEngineWhenItIsBack() throws Exception {
        Client client = open(fallback);
        try (Lease lease = client.lock("a").acquire()) {
            assertThat(lease.isFallback()).isTrue();
        }
        letProbesPass();
        assertThat(primary.claims).isEmpty();
        refusal = null;
        letProbesPass();
        try (Lease lease = client.lock("a").acquire()) {
            assertThat(lease.isFallback()).isFalse();
            assertThat(lease.token()).isPositive();
        }
        client.close();
        assertThat(primary.closed).isTrue();
        assertThat(fallback.closed).isTrue();
    }

    @Test
    void describesTheEngineThatIsInUse() {
        Client client = open(fallback);
        assertThat(client.describe().limits()).singleElement().asString().startsWith("This is the fallback");
        refusal = null;
        letProbesPass();
        assertThat(client.describe().limits()).singleElement().asString().startsWith("While this engine is down");
        client.close();
    }

    @Test
    void staysInFallbackWhileTheEngineIsSetUpWrongly() throws Exception {
        Client client = open(fallback);
        refusal = new LockConfigurationException(null, "wrong");
        letProbesPass();
        try (Lease lease = client.lock("a").acquire()) {
            assertThat(lease.isFallback()).isTrue();
        }
        refusal = null;
        letProbesPass();
        try (Lease lease = client.lock("a").acquire()) {
            assertThat(lease.isFallback()).isFalse();
        }
        client.close();
    }

    @Test
    void doesNotTakeAnEngineThatCanDoLessThanItsUsersCountOn() throws Exception {
        primary.reportsWanted = false;
        Client client = open(fallback);
        refusal = null;
        letProbesPass();
        try (Lease lease = client.lock("a").acquire()) {
            assertThat(lease.isFallback()).isTrue();
        }
        assertThat(primary.closed).isTrue();
        client.close();
    }

    @Test
    void aWrongSetUpIsReportedAtOnce() {
        refusal = new LockConfigurationException(null, "wrong");
        assertThatThrownBy(() -> open(fallback)).isSameAs(refusal);
        assertThat(fallback.closed).isTrue();
    }

    @Test
    void closesAnEngineThatConnectsTooLate() {
        AtomicBoolean closedFirst = new AtomicBoolean();
        Client[] client = new Client[1];
        BackendFactory slow = context -> {
            if (refusal != null) {
                throw refusal;
            }
            client[0].close();
            closedFirst.set(true);
            return primary;
        };
        fallback.answersAtOnce = true;
        client[0] = FallbackFixture.open(slow, context -> fallback, time, event -> {});
        refusal = null;
        letProbesPass();
        assertThat(closedFirst).isTrue();
        assertThat(primary.closed).isTrue();
    }
}
