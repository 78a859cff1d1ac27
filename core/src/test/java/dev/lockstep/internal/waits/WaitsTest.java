package dev.lockstep.internal.waits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DeadlockException;
import dev.lockstep.DeadlockPolicy;
import dev.lockstep.HolderInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.client.Clients;
import dev.lockstep.internal.turnstile.SimThread;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The waits that are recorded and read because of threads that hold and wait, request by request. */
class WaitsTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final ScriptedBackend engine = new ScriptedBackend(time);
    private final List<LockListener.Deadlock> deadlocks = new ArrayList<>();
    private final LockClient client = open(DeadlockPolicy.FAIL);
    private final Thread thread = new Thread("worker");

    private LockClient open(DeadlockPolicy policy) {
        Clients.Settings settings = new Clients.Settings(
                "test",
                Duration.ofSeconds(30),
                Duration.ofSeconds(5),
                Duration.ofMillis(20),
                Duration.ofSeconds(1),
                "client",
                null,
                List.of(new LockListener() {
                    @Override
                    public void onDeadlock(Deadlock event) {
                        deadlocks.add(event);
                    }
                }),
                List.of(),
                false,
                new Clients.Care(false, false, false, null, Duration.ofSeconds(1), policy));
        BackendFactory factory = new BackendFactory() {
            @Override
            public LockBackend open(BackendContext context) {
                return engine;
            }

            @Override
            public String address() {
                return "db-7:5432";
            }
        };
        return new Client(factory, settings, null, time, Runnable::run, "client", "id", () -> {});
    }

    private SimThread asks(LockClient of, String name) {
        return asks(thread, of, name);
    }

    private static SimThread asks(Thread asking, LockClient of, String name) {
        return new SimThread(asking, of, name, LockMode.EXCLUSIVE, LockOptions.defaults(), SimThread.FOREVER);
    }

    /** A thread that holds "a" and waits for "b". */
    private SimThread holdsAndWaits(LockClient of) {
        SimThread holds = asks(of, "a");
        engine.claim(0).grant();
        assertThat(holds.look()).isTrue();
        assertThat(holds.lease()).isNotNull();
        SimThread waits = asks(of, "b");
        engine.contact();
        return waits;
    }

    private void passes(Duration some) {
        for (long left = some.toMillis(); left > 0; left -= 100) {
            time.advance(Duration.ofMillis(Math.min(left, 100)));
            engine.contact();
        }
    }

    private static HolderInfo somebody(String name) {
        return HolderInfo.of(name, "host", 1).withThread("main");
    }

    private LockInfo.Entry own() {
        return LockInfo.Entry.of(LockMode.EXCLUSIVE, somebody("client"))
                .withClaim(engine.claim(0).request.claimId())
                .withToken(101);
    }

    private LockInfo.Entry other(long token, Instant since) {
        return LockInfo.Entry.of(LockMode.EXCLUSIVE, somebody("other"))
                .withClaim("other.1.1")
                .withToken(token)
                .withWait(LockInfo.Wait.of("a", LockMode.EXCLUSIVE, "main #1", since, false));
    }

    /** "a" is held here and "b" by another client, which waits for "a"; both are known to wait. */
    private void showCycle(long token, Instant since) {
        LockInfo.Entry there = other(token, since);
        engine.infos.put("a", LockInfo.of("a", List.of(own()), List.of(there)));
        engine.infos.put("b", LockInfo.of("b", List.of(there), List.of(own())));
    }

    @Test
    void nothingIsAskedForAThreadThatHoldsNothing() {
        SimThread waits = asks(client, "a");
        passes(Duration.ofSeconds(60));
        assertThat(waits.isDone()).isFalse();
        assertThat(engine.inspections).isZero();
    }

    @Test
    void nothingIsAskedForAThreadThatOnlyHolds() {
        asks(client, "a");
        engine.claim(0).grant();
        passes(Duration.ofSeconds(20));
        assertThat(engine.inspections).isZero();
        assertThat(engine.grant(0).waits).isEmpty();
    }

    @Test
    void aWaitIsRecordedAfterASecondAndUntilItEnds() {
        SimThread waits = holdsAndWaits(client);
        passes(Duration.ofMillis(900));
        assertThat(engine.grant(0).waits).isEmpty();
        passes(Duration.ofMillis(300));
        assertThat(engine.grant(0).waits).hasSize(1);
        LockInfo.Wait wait = engine.grant(0).waits.get(0).orElseThrow();
        assertThat(wait.lock()).isEqualTo("b");
        assertThat(wait.thread()).isEqualTo("worker #" + thread.getId());
        assertThat(wait.isBounded()).isFalse();
        passes(Duration.ofSeconds(10));
        assertThat(engine.grant(0).waits).as("once").hasSize(1);
        int inspections = engine.inspections;
        assertThat(inspections).as("soon one look a second").isBetween(1, 14);

        engine.claim(1).grant();
        assertThat(waits.look()).isTrue();
        assertThat(engine.grant(0).waits).last().isEqualTo(Optional.empty());
        passes(Duration.ofSeconds(20));
        assertThat(engine.inspections).isEqualTo(inspections);
    }

    @Test
    void aRecordThatIsNotAnsweredIsTriedAgain() {
        engine.losesRecords = true;
        holdsAndWaits(client);
        passes(Duration.ofMillis(1100));
        assertThat(engine.grant(0).waits).hasSize(1);
        engine.losesRecords = false;
        passes(Duration.ofMillis(1100));
        assertThat(engine.grant(0).waits).hasSize(2);
        passes(Duration.ofSeconds(5));
        assertThat(engine.grant(0).waits).hasSize(2);
    }

    @Test
    void aCycleThatIsSeenOnceIsNoDeadlock() {
        SimThread waits = holdsAndWaits(client);
        long token = 200;
        for (int look = 0; look < 5; look++) {
            int before = engine.inspections;
            showCycle(token++, Instant.EPOCH); // another holder each time
            while (engine.inspections == before) {
                passes(Duration.ofMillis(100));
            }
        }
        assertThat(deadlocks).isEmpty();
        assertThat(waits.isDone()).isFalse();
    }

    @Test
    void theYoungestCallOfACycleThatIsSeenTwiceFails() {
        List<String> warnings = new ArrayList<>();
        ThreadLogs.onWarning(warnings::add);
        SimThread waits = holdsAndWaits(client);
        showCycle(200, Instant.EPOCH);
        passes(Duration.ofSeconds(2));
        ThreadLogs.onWarning(null);
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("event=deadlock", "engine=db-7:5432", "the engine at db-7:5432");
        assertThat(engine.claim(1).withdrawals).isEqualTo(1);
        assertThat(waits.look()).as("the engine still has its claim").isFalse();
        passes(Duration.ofSeconds(1));
        engine.claim(1).withdrawn.complete(null);
        assertThat(waits.look()).isTrue();
        assertThat(waits.error()).isInstanceOf(DeadlockException.class).hasMessageContaining("'other'");
        assertThat(deadlocks).hasSize(1).allMatch(LockListener.Deadlock::failsCall);
    }

    @Test
    void anotherCallFailsIfItIsYounger() {
        SimThread waits = holdsAndWaits(client);
        showCycle(200, Instant.MAX);
        passes(Duration.ofSeconds(5));
        assertThat(waits.look()).isFalse();
        assertThat(deadlocks).hasSize(1).noneMatch(LockListener.Deadlock::failsCall);
    }

    @Test
    void aDeadlockIsReportedOnceAlthoughALookFails() {
        holdsAndWaits(client);
        showCycle(200, Instant.MAX);
        passes(Duration.ofSeconds(5));
        assertThat(deadlocks).hasSize(1);
        engine.failingInspections = 1;
        passes(Duration.ofSeconds(5));
        assertThat(engine.failingInspections).isZero();
        assertThat(deadlocks).hasSize(1);
    }

    @Test
    void aDeadlockAmongMoreWaitsThanALookReadsIsReportedOnce() {
        holdsAndWaits(client);
        for (int i = 0; i < GraphWalk.MOST_LOCKS + 10; i++) {
            Thread other = new Thread("other-" + i);
            SimThread holds = asks(other, client, "held-" + i);
            engine.claim(engine.claims.size() - 1).grant();
            assertThat(holds.look()).isTrue();
            assertThat(holds.lease()).isNotNull();
            asks(other, client, "wanted-" + i);
        }
        showCycle(200, Instant.MAX);
        passes(Duration.ofSeconds(20));
        assertThat(deadlocks).hasSize(1);
    }

    @Test
    void aRecordThatMayBeOutdatedFailsNoCall() {
        SimThread waits = holdsAndWaits(client);
        LockInfo.Entry there = other(200, Instant.EPOCH);
        engine.infos.put("a", LockInfo.of("a", List.of(own()), List.of())); // the other client does not ask for it
        engine.infos.put("b", LockInfo.of("b", List.of(there), List.of(own())));
        passes(Duration.ofSeconds(5));
        assertThat(waits.look()).isFalse();
        assertThat(deadlocks).hasSize(1);
        assertThat(deadlocks.get(0).cycle().isCertain()).isFalse();
    }

    @Test
    void nothingIsRecordedOrAskedIfThatIsOff() {
        holdsAndWaits(open(DeadlockPolicy.OFF));
        showCycle(200, Instant.EPOCH);
        passes(Duration.ofSeconds(5));
        assertThat(engine.grant(0).waits).isEmpty();
        assertThat(engine.inspections).isZero();
    }
}
