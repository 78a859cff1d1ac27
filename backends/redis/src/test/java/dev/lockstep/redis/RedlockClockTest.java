package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clocks of some of several independent servers are set while locks are held and waited for. */
@Tag("full")
@Timeout(120)
class RedlockClockTest {
    private static final String NAME = "order:42";
    private static final Duration MINUTE = Duration.ofSeconds(60);
    private static final Duration TTL = Duration.ofSeconds(3);

    /** So long that a waiter tries several times before a renewal restores what the holder lost. */
    private static final Duration LONG_TTL = Duration.ofSeconds(18);

    /** The machine of servers 0 and 1, and that of servers 2, 3 and 4. */
    private final List<HostFaults> hosts = new ArrayList<>();

    private Redlocks set;

    @BeforeEach
    void start() {
        hosts.add(Servers.require(HostFaults::create));
        hosts.add(Servers.require(HostFaults::create));
        List<RedisServer> servers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            HostFaults host = i < 2 ? few() : many();
            servers.addAll(Redlocks.start(1, RedisServer.builder().on(host)));
        }
        servers.forEach(server -> Redlocks.age(server, 5));
        set = Redlocks.of(servers);
    }

    @AfterEach
    void stop() throws Exception {
        if (set != null) {
            set.close();
        }
        hosts.forEach(HostFaults::close);
    }

    private HostFaults few() {
        return hosts.get(0);
    }

    private HostFaults many() {
        return hosts.get(1);
    }

    @Test
    void aMinorityThatIsSetForwardFreesNothing() throws Exception {
        Lease held = set.client(TTL).lock(NAME).acquireAsync().get();
        long token = held.token();
        LockClient other = set.client(TTL);
        CompletableFuture<Lease> waiting = other.lock(NAME).acquireAsync();
        Bench.awaitWaiters(other, NAME, 1);
        few().clockOff(MINUTE);
        assertThat(set.client(TTL).lock(NAME).tryLock()).isFalse();
        Bench.letPass(TTL.plusSeconds(1));
        assertThat(waiting).isNotDone();
        assertThat(held.isValid()).isTrue();
        held.close();
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }

    /** Outside the promise: the lock is granted early. The holder is notified, and storage can see which one is later. */
    @Test
    void aMajorityThatIsSetForwardEndsAHoldEarlyAndTheTokenProtects() throws Exception {
        Lease held = set.client(LONG_TTL).lock(NAME).acquireAsync().get();
        long token = held.token();
        LockClient other = set.client(LONG_TTL);
        CompletableFuture<Lease> waiting = other.lock(NAME).acquireAsync();
        Bench.awaitWaiters(other, NAME, 1);
        many().clockOff(MINUTE);
        succeeds(waiting, held, token);
    }

    /** Outside the promise, too: a holder with only a majority loses it with one server. */
    @Test
    void oneServerThatIsSetForwardEndsAHoldOfABareMajority() throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient holder = set.client(proxies, LONG_TTL, Duration.ofSeconds(2));
        LockClient other = set.client(LONG_TTL);
        proxies.get(1).cut();
        proxies.get(4).cut();
        Lease held = holder.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS);
        long token = held.token();
        few().clockOff(MINUTE);
        succeeds(other.lock(NAME).acquireAsync(), held, token);
    }

    private static void succeeds(CompletableFuture<Lease> waiting, Lease held, long token) throws Exception {
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(token);
            Bench.await("the loss is reported", () -> !held.isValid());
            assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
            assertThat(next.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void setBackTheyLowerNoTokenAndDelayNoLiveClient(boolean majority) throws Exception {
        HostFaults host = majority ? many() : few();
        LockClient holder = set.client(TTL);
        LockClient other = set.client(TTL);
        long last = 0;
        for (int i = 0; i < 3; i++) {
            Lease held = holder.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS);
            assertThat(held.token()).isGreaterThan(last);
            CompletableFuture<Lease> waiting = other.lock(NAME).acquireAsync();
            Bench.awaitWaiters(other, NAME, 1);
            host.clockOff(MINUTE.multipliedBy(-1 - i));
            Duration before = held.remaining();
            Bench.await("it is renewed", () -> held.remaining().compareTo(before) > 0);
            long token = held.token();
            held.close();
            try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(token);
                last = next.token();
            }
        }
    }

    /** The token comes from a clock that is far ahead, and then the lock is not used for longer than servers remember it. */
    @Test
    void clocksThatAreFarApartLowerNoToken() throws Exception {
        few().clockOff(Duration.ofHours(2));
        long token = tokenWithout(3, 4);
        few().clockOff(Duration.ofMinutes(150));
        many().clockOff(Duration.ofMinutes(30));
        assertThat(tokenWithout(0, 1)).isGreaterThan(token);
    }

    private long tokenWithout(int... away) throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient client = set.client(proxies, TTL, Duration.ofSeconds(20));
        for (int server : away) {
            proxies.get(server).cut();
        }
        try (Lease lease = client.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS)) {
            return lease.token();
        }
    }

    @Test
    void aMinorityThatIsSetBackKeepsNoDeadHoldersLock() throws Exception {
        assertThat(freedAfterDeath(few(), MINUTE)).isLessThan(TTL.plusSeconds(10));
    }

    @Test
    void aMajorityThatIsSetBackKeepsADeadHoldersLockForAsMuchLongerAtMost() throws Exception {
        Duration back = Duration.ofSeconds(3);
        assertThat(freedAfterDeath(many(), back)).isLessThan(TTL.plus(back).plusSeconds(10));
    }

    private Duration freedAfterDeath(HostFaults host, Duration back) throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient dead = set.client(proxies, TTL, Duration.ofSeconds(2));
        LockClient other = set.client(TTL);
        dead.lock(NAME).acquireAsync().get();
        proxies.forEach(TcpProxy::blackHole);
        host.clockOff(back.negated());
        long start = System.nanoTime();
        other.lock(NAME).acquireAsync().get(60, TimeUnit.SECONDS).close();
        return Duration.ofNanos(System.nanoTime() - start);
    }
}
