package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that answers nobody for ten seconds, and clients with the default ttl that each hold a lock. */
@Timeout(300)
class OutageTest {
    private static final int CLIENTS = 30;
    private static final Duration OUTAGE = Duration.ofSeconds(10);

    private final List<LockClient> clients = new ArrayList<>();
    private RedisServer server;

    @BeforeEach
    void start() {
        server = Servers.require(() -> RedisServer.builder().start());
    }

    @AfterEach
    void stop() {
        clients.forEach(LockClient::close);
        server.close();
    }

    @Test
    @Tag("full")
    void anOutageLosesNoHoldAndIsFollowedByNoFloodOfRequests() throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            LockClient client = LockClient.builder().url(server.url()).connect();
            clients.add(client);
            leases.add(client.lock("held-" + i).acquireAsync().get());
        }
        double normal = commandsPerSecond(() -> Bench.letPass(Duration.ofSeconds(20)));
        Bench.letPass(Duration.ofSeconds(8)); // so that the next renewals, each ten seconds, meet the outage
        double outage = commandsPerSecond(() -> {
            server.pause();
            try {
                Bench.letPass(OUTAGE);
            } finally {
                server.resume();
            }
            Bench.letPass(Duration.ofSeconds(5)); // for what was sent meanwhile
        });
        double after = commandsPerSecond(() -> Bench.letPass(Duration.ofSeconds(10)));

        assertThat(leases).allMatch(Lease::isValid);
        assertThat(outage).isLessThan(2 * normal);
        assertThat(after).isLessThan(2 * normal);
    }

    /** The work that the server has done for clients, connecting included. */
    private double commandsPerSecond(Runnable meanwhile) {
        long before = Long.parseLong(server.info("total_commands_processed"));
        long start = System.nanoTime();
        meanwhile.run();
        long done = Long.parseLong(server.info("total_commands_processed")) - before;
        return done / ((System.nanoTime() - start) / 1e9);
    }
}
