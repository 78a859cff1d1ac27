package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that answers nobody for ten seconds, and clients with the default ttl that each hold a lock. */
class OutageTest extends SingleMemberTestCase {
    private static final int CLIENTS = 30;

    @Test
    @Tag("full")
    void anOutageLosesNoHoldAndIsFollowedByNoFloodOfRequests() throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            LockClient client = closedAfterwards(LockClient.builder()
                    .namespace(namespace)
                    .url("etcd://" + server.address())
                    .connect());
            leases.add(client.lock("held-" + i).acquireAsync().get());
        }
        double normal = requestsPerSecond(Duration.ofSeconds(20)); // two renewals of each
        TimeUnit.SECONDS.sleep(8); // so that the next renewals, each ten seconds, meet the outage
        server.pause();
        try {
            TimeUnit.SECONDS.sleep(10); // the outage is what is measured
        } finally {
            server.resume();
        }
        TimeUnit.SECONDS.sleep(5); // for what was sent meanwhile
        double after = requestsPerSecond(Duration.ofSeconds(10));

        assertThat(leases).allMatch(Lease::isValid);
        assertThat(after).isLessThan(2 * normal);
    }

    private static double requestsPerSecond(Duration time) throws InterruptedException {
        double before = requests();
        long start = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(time.toMillis()); // what is measured is what happens while time passes
        return (requests() - before) / ((System.nanoTime() - start) / 1e9);
    }

    private static double requests() {
        return server.metric("grpc_server_msg_received_total", "");
    }
}
