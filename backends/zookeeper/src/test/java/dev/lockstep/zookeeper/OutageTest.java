package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that answers nobody for ten seconds, and clients with the default ttl that each hold a lock. */
@Timeout(300)
class OutageTest extends CountedClients {
    private static final int CLIENTS = 30;

    private final List<LockClient> clients = new ArrayList<>();

    @AfterEach
    void closeHolders() {
        clients.forEach(LockClient::close);
    }

    @Test
    @Tag("full")
    void anOutageLosesNoHoldAndIsFollowedByNoFloodOfRequests() throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            LockClient holder = LockClient.builder()
                    .url("zookeeper://127.0.0.1:" + server.port())
                    .connect();
            clients.add(holder);
            leases.add(holder.lock("held-" + i).acquireAsync().get());
        }
        double normal = requestsPerSecond(Duration.ofSeconds(20));
        double before = requests();
        long start = System.nanoTime();
        server.pause();
        try {
            TimeUnit.SECONDS.sleep(10); // the outage is what is measured
        } finally {
            server.resume();
        }
        TimeUnit.SECONDS.sleep(5); // for what was sent meanwhile
        double outage = (requests() - before) / ((System.nanoTime() - start) / 1e9);
        double after = requestsPerSecond(Duration.ofSeconds(10));

        assertThat(leases).allMatch(Lease::isValid);
        assertThat(outage).isLessThan(2 * normal);
        assertThat(after).isLessThan(2 * normal);
    }

    private static double requestsPerSecond(Duration time) throws InterruptedException {
        double before = requests();
        long start = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(time.toMillis()); // what is measured is what happens while time passes
        return (requests() - before) / ((System.nanoTime() - start) / 1e9);
    }

    private static double requests() {
        return server.metric("zk_packets_received");
    }
}
