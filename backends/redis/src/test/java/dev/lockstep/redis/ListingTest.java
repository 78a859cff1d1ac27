package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks are listed in pages, with few requests for each. */
@Timeout(120)
class ListingTest extends OneServerTestCase {
    private static List<Lease> acquire(LockClient client, int count) throws Exception {
        List<CompletableFuture<Lease>> leases = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            leases.add(client.lock("held-" + i).acquireAsync());
        }
        List<Lease> held = new ArrayList<>();
        for (CompletableFuture<Lease> lease : leases) {
            held.add(lease.get(60, TimeUnit.SECONDS));
        }
        return held;
    }

    /** The result of a listing, and its cost. */
    private record Listing(List<String> names, int pages, int largest, long requests) {
        static Listing of(LockClient client, String prefix, int limit, LongSupplier requests) {
            long before = requests.getAsLong();
            List<String> names = new ArrayList<>();
            int pages = 0;
            int largest = 0;
            String cursor = "";
            do {
                LockPage page = client.list(prefix, cursor, limit);
                page.locks().stream().map(LockInfo::name).forEach(names::add);
                pages++;
                largest = Math.max(largest, page.locks().size());
                cursor = page.next().orElse("");
            } while (!cursor.isEmpty());
            return new Listing(names, pages, largest, requests.getAsLong() - before);
        }
    }

    private static long requests(List<RedisServer> servers) {
        return servers.stream()
                .mapToLong(server -> Calls.of(server, "scan", "evalsha", "eval", "role"))
                .sum();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void thousandsOfLocksTakeFewRequests(String options) throws Exception {
        Bench bench = bench();
        LockClient client = bench.patientClient(options);
        List<Lease> held = acquire(client, 3_000);
        Listing listing = Listing.of(client, "held-", 500, () -> requests(List.of(bench.server())));
        assertThat(listing.names()).doesNotHaveDuplicates().hasSize(held.size());
        assertThat(listing.pages()).isBetween(5, 30);
        assertThat(listing.largest()).isLessThan(700);
        assertThat(listing.requests()).isLessThan(100);
        assertThat(Listing.of(client, "held-29", 1_000, () -> 0).names()).hasSize(111);
        assertThat(Listing.of(client, "none", 10, () -> 0).names()).isEmpty();
    }

    /** A list reads pages, so that the time for all of them may be longer than one request may take. */
    @Test
    @Tag("full")
    @Timeout(600)
    void aHundredThousandLocksAreListed() throws Exception {
        Bench bench = bench();
        LockClient client = bench.patientClient("");
        List<Lease> held = acquire(client, 100_000);
        long before = requests(List.of(bench.server()));
        assertThat(client.list("held-")).hasSize(held.size());
        assertThat(requests(List.of(bench.server())) - before).isLessThan(3_000);
        LockClient operator = bench.client(bench.server().url(), Duration.ofMinutes(10), Duration.ofSeconds(3));
        assertThat(operator.list("held-")).hasSize(held.size());
    }

    /** Other keys are passed over without a request for each page of them that has no lock. */
    @Test
    void fewLocksAmongManyOtherKeysAreFound() throws Exception {
        Bench bench = bench();
        LockClient client = bench.patientClient("");
        bench.server().command("EVAL", "for i = 1, 60000 do redis.call('SET', 'other' .. i, i) end", "0");
        List<Lease> held = acquire(client, 20);
        Listing listing = Listing.of(client, "", 10, () -> requests(List.of(bench.server())));
        assertThat(listing.names()).doesNotHaveDuplicates().hasSize(held.size());
        assertThat(listing.requests()).isLessThan(300);
    }

    @Test
    @Tag("full")
    void theLocksOfAClusterAreListedFromNodeToNode() throws Exception {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0));
                LockClient client = LockClient.builder()
                        .url("redis-cluster://" + cluster.addresses())
                        .ttl(Bench.PATIENCE.multipliedBy(10))
                        .requestTimeout(Bench.PATIENCE)
                        .connect()) {
            List<Lease> held = acquire(client, 2_000);
            Listing listing = Listing.of(client, "held-", 250, () -> requests(cluster.servers()));
            assertThat(listing.names()).doesNotHaveDuplicates().hasSize(held.size());
            assertThat(listing.pages()).isBetween(6, 40);
            assertInvalid(client, "0.0.0");
            held.forEach(Lease::closeAsync);
        }
    }

    @Test
    void anInvalidCursorIsAnIllegalArgument() {
        LockClient client = bench().patientClient("");
        for (String cursor : List.of("nonsense", "0.0.0", "1.2", "0.0.99999999999999999999", "x.0.0", "0.-1.0")) {
            assertInvalid(client, cursor);
        }
    }

    private static void assertInvalid(LockClient client, String cursor) {
        assertThatThrownBy(() -> client.list("", cursor, 10))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(cursor);
    }

    @Test
    void aLockInAnotherFormatIsRefusedAndNotListed() throws Exception {
        Bench bench = bench();
        LockClient client = bench.patientClient("");
        bench.server().command("HSET", KEY, "format", "2", "owner", "somebody");
        try (Redlocks set = Redlocks.start(3)) {
            set.servers().forEach(server -> server.command("HSET", KEY, "format", "2"));
            assertThatThrownBy(set.client(Bench.PATIENCE).lock(NAME)::lock)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("LOCKSTEP_FORMAT 2");
        }
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> client.lock(NAME).lock(),
                () -> client.lock(NAME).tryLock(),
                () -> client.readWriteLock(NAME).readLock().lock(),
                () -> client.semaphore(NAME, 2).acquire(),
                () -> client.inspect(NAME))) {
            assertThatThrownBy(call)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(NAME)
                    .hasMessageContaining("LOCKSTEP_FORMAT 2")
                    .hasMessageContaining("stored-formats.md");
        }
        try (Lease other = client.lock("other").acquire()) {
            assertThat(other.isValid()).isTrue();
            assertThat(client.list(""))
                    .singleElement()
                    .matches(info -> info.name().equals("other"));
            assertThat(client.list("", "", 10).locks())
                    .singleElement()
                    .matches(info -> info.name().equals("other"));
        }
    }
}
