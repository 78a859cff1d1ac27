package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A service that starts while its engine is down. For engines with a server that a test can stop and start; the server is the
 * subclass's to start before the test, and to close after it.
 */
public abstract class LazyConnectContract {
    private static final String NAME = "order:42";

    /** Made by JUnit. */
    protected LazyConnectContract() {}

    /**
     * Configures a client of the server.
     *
     * @return a builder that knows the engine
     */
    protected abstract LockClient.Builder client();

    /** Stops the server, as a crash would. */
    protected abstract void stopServer();

    /** Starts the server again, at the same address. */
    protected abstract void startServer();

    /**
     * Names the server's port, which an error must tell.
     *
     * @return the port
     */
    protected abstract int port();

    @Test
    @Timeout(60)
    final void locksWhenTheServerIsBack() throws InterruptedException {
        stopServer();
        try (LockClient client =
                client().requestTimeout(Duration.ofSeconds(2)).lazyConnect().connect()) {
            assertThatThrownBy(() -> client.lock(NAME).tryLock())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(":" + port());
            startServer();
            try (Lease lease =
                    client.lock(NAME).tryAcquire(Duration.ofSeconds(40)).orElseThrow()) {
                assertThat(lease.token()).isPositive();
                assertThat(client.inspect(NAME).holders()).hasSize(1);
            }
        }
    }

    /** A client that is not lazy tries until its request timeout. */
    @Test
    @Timeout(60)
    final void connectsAlthoughTheServerStartsALittleLater() throws Exception {
        stopServer();
        CompletableFuture<LockClient> connecting = CompletableFuture.supplyAsync(
                () -> client().requestTimeout(Duration.ofSeconds(40)).connect());
        try {
            assertThatThrownBy(() -> connecting.get(1, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
        } finally {
            startServer();
        }
        try (LockClient client = connecting.get()) {
            assertThat(client.lock(NAME).tryLock()).isTrue();
            client.lock(NAME).unlock();
        }
    }
}
