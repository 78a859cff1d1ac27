package dev.lockstep.examples.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Behaviour of the toy alone: its reaction to a failing connection. */
class ToyBackendTest {
    private static final Duration TTL = Duration.ofSeconds(10);

    private final ToyStore store = new ToyStore();
    private final ToyStore.Connection connection = new ToyStore.Connection(store);
    private final LockClient client = open(connection);
    private final LockClient rival = open(new ToyStore.Connection(store));

    private static LockClient open(ToyStore.Connection connection) {
        return LockClient.builder()
                .backend(context -> new ToyBackend(context, connection))
                .ttl(TTL)
                .requestTimeout(Duration.ofSeconds(3))
                .connect();
    }

    @AfterEach
    void close() {
        connection.hurt(ToyStore.Fault.NONE);
        client.close();
        rival.close();
        assertThat(store.find("")).isEmpty();
    }

    @Test
    void holdLastsBeyondTheTtlWhileItIsRenewed() throws InterruptedException {
        try (Lease lease = client.lock("a").acquire()) {
            assertThat(rival.lock("a").tryAcquire(TTL.multipliedBy(5).dividedBy(4)))
                    .isEmpty();
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void holderIsNotifiedBeforeTheRivalGetsIn() throws InterruptedException {
        Lease lease = client.lock("a").acquire();
        CountDownLatch told = new CountDownLatch(1);
        lease.onLost(reason -> told.countDown());
        connection.hurt(ToyStore.Fault.CUT);
        try (Lease next = rival.lock("a").acquire()) {
            assertThat(lease.isValid()).isFalse();
            assertThat(next.token()).isPositive();
            assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
        }
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void claimWhoseAnswerIsLostIsFoundAgainByItsId() throws InterruptedException {
        connection.hurt(ToyStore.Fault.DEAF);
        var later = client.lock("a").tryAcquireAsync(Duration.ofSeconds(20));
        while (store.find("").isEmpty()) {
            Thread.onSpinWait();
        }
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        connection.hurt(ToyStore.Fault.NONE);
        later.orTimeout(20, TimeUnit.SECONDS).join().orElseThrow().closeAsync().join();
    }

    @Test
    void unknownOutcomeIsAnExceptionAndIsReleased() throws InterruptedException {
        connection.hurt(ToyStore.Fault.DEAF);
        assertThatThrownBy(() -> client.lock("a").tryLock()).isInstanceOf(LockUnavailableException.class);
        connection.hurt(ToyStore.Fault.NONE);
        Optional<Lease> next = rival.lock("a").tryAcquire(Duration.ofSeconds(20));
        assertThat(next).isPresent();
        next.get().close();
    }

    @Test
    void malformedUrlIsRefusedWithoutItsPassword() {
        assertThatThrownBy(() -> LockClient.connect("toy://user:s3cret@host"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("toy:NAME")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void engineWithoutSharedLocksSaysSoAfterItHasCheckedTheName() {
        assertThatThrownBy(() -> client.readWriteLock("a"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("no shared locks");
        assertThatThrownBy(() -> client.readWriteLock("")).isInstanceOf(IllegalArgumentException.class);
    }
}
