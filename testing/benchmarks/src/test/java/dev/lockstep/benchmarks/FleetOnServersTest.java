package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.benchmarks.Fleet.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulation against 30 clients of a real server that is stopped for ten seconds. */
@Tag("full")
@Timeout(300)
class FleetOnServersTest {
    private static final int CLIENTS = 30;

    private final List<LockClient> clients = new ArrayList<>();

    @AfterEach
    void close() {
        clients.forEach(LockClient::close);
    }

    @ParameterizedTest
    @EnumSource(
            value = Renewals.class,
            names = {"REDIS", "ZOOKEEPER", "ETCD"})
    void realClientsMakeTheRequestsThatAreSimulated(Renewals renewals) throws Exception {
        Outcome simulated = new Fleet(renewals, CLIENTS, 100, renewals.periodMillis, 1).run();
        List<Lease> leases = new ArrayList<>();
        try (RunningEngine engine = RunningEngine.start(renewals.engine)) {
            for (int i = 0; i < CLIENTS; i++) {
                LockClient client = LockClient.builder().url(engine.url(false)).connect();
                clients.add(client);
                leases.add(client.lock("held-" + i).acquireAsync().get());
                TimeUnit.MILLISECONDS.sleep(
                        renewals.periodMillis / CLIENTS); // so that their renewals are spread evenly
            }
            TimeUnit.SECONDS.sleep(2); // until the last one has made its watches
            double normal = perSecond(engine, 20);
            double before = engine.requests();
            engine.pause();
            try {
                TimeUnit.SECONDS.sleep(10); // the outage
            } finally {
                engine.resume();
            }
            TimeUnit.SECONDS.sleep(5); // for what was sent meanwhile
            double outage = (engine.requests() - before) / 15;
            double later = perSecond(engine, 10);
            System.out.println(renewals + " measured: " + normal + ", " + outage + ", " + later + "; " + simulated);

            assertThat(leases).allMatch(Lease::isValid);
            assertThat(normal).isCloseTo(simulated.perSecond(), withinPercentage(10));
            assertThat(outage).isCloseTo(simulated.outagePerSecond(), withinPercentage(20));
            assertThat(later).isCloseTo(simulated.laterPerSecond(), withinPercentage(20));
            clients.forEach(LockClient::close);
        }
    }

    private static double perSecond(RunningEngine engine, int seconds) throws InterruptedException {
        double before = engine.requests();
        TimeUnit.SECONDS.sleep(seconds); // what is measured is what happens while time passes
        return (engine.requests() - before) / seconds;
    }
}
