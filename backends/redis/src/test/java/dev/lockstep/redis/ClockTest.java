package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's clock is set while locks are held and waited for. */
@Tag("full")
@Timeout(120)
class ClockTest {
    private static final String NAME = "order:42";
    private static final Duration MINUTE = Duration.ofSeconds(60);
    private static final Duration TTL = Duration.ofSeconds(6);

    private HostFaults host;
    private Bench bench;

    @BeforeEach
    void start() {
        host = Servers.require(HostFaults::create);
        bench = new Bench(Servers.require(() -> RedisServer.builder().on(host).start()));
    }

    @AfterEach
    void stop() throws Exception {
        if (bench != null) {
            bench.close();
        }
        if (host != null) {
            host.close();
        }
    }

    private LockClient client(String options) {
        return bench.client(bench.server().url() + options, TTL);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void setForwardItEndsAHoldEarlyAndTheTokenProtects(String options) throws Exception {
        LockClient holder = client(options);
        LockClient other = client(options);
        Lease held = holder.lock(NAME).acquireAsync().get();
        long token = held.token();
        CompletableFuture<Lease> waiting = other.lock(NAME).acquireAsync();
        host.clockOff(MINUTE);
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(token);
            Bench.await("the loss is reported", () -> !held.isValid());
            assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
            assertThat(next.isValid()).isTrue();
            assertThat(other.inspect(NAME).holders()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void setBackItLowersNoToken(String options) throws Exception {
        LockClient client = client(options);
        long last = 0;
        for (Duration off : new Duration[] {Duration.ZERO, MINUTE.negated(), MINUTE.multipliedBy(-2)}) {
            host.clockOff(off);
            for (int i = 0; i < 3; i++) {
                try (Lease lease = client.lock(NAME).acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                }
            }
        }
    }

    /** The lock is used once after that, and then not for longer than the server remembers an unused one. */
    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void setBackForLongItLowersNoTokenEither(String options) throws Exception {
        LockClient client = client(options);
        long last = 0;
        for (int minutes : new int[] {0, -120, -90, -60}) {
            host.clockOff(Duration.ofMinutes(minutes));
            try (Lease lease = client.lock(NAME).acquire()) {
                assertThat(lease.token()).isGreaterThan(last);
                last = lease.token();
            }
        }
    }

    @Test
    void setBackItDelaysNoLiveClient() throws Exception {
        LockOptions fair = LockOptions.defaults().fair();
        LockClient holder = client("");
        LockClient other = client("");
        for (LockOptions options : new LockOptions[] {LockOptions.defaults(), fair}) {
            String name = NAME + options.isFair();
            Lease held = holder.lock(name, options).acquireAsync().get();
            CompletableFuture<Lease> waiting = other.lock(name, options).acquireAsync();
            Bench.awaitWaiters(holder, name, 1);
            host.clockOff(options.isFair() ? MINUTE.multipliedBy(-2) : MINUTE.negated());
            Bench.awaitRenewal(held);
            held.close();
            waiting.get(20, TimeUnit.SECONDS).close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void setBackItKeepsTheLockOfADeadHolderForAsMuchLongerAtMost(String options) throws Exception {
        Duration ttl = Duration.ofSeconds(2);
        Duration back = Duration.ofSeconds(3);
        TcpProxy proxy = bench.proxy();
        LockClient dead = bench.client(proxy, options);
        dead.lock(NAME).acquireAsync().get();
        proxy.blackHole();
        host.clockOff(back.negated());
        long start = System.nanoTime();
        client(options).lock(NAME).acquireAsync().get(30, TimeUnit.SECONDS).close();
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isLessThan(ttl.plus(back).plusSeconds(5));
    }
}
