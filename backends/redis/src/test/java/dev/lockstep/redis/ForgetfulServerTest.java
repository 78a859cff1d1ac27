package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LossReason;
import dev.lockstep.servers.RedisServer;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A Redis server forgets: scripts, a waiter, a lock, everything; or remembers over a restart. */
@Timeout(120)
@Tag("full")
class ForgetfulServerTest extends OneServerTestCase {
    @Test
    void aServerThatForgotTheScriptsIsTaughtAgain() throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client(bench.server().url(), Duration.ofSeconds(6), Bench.PATIENCE);
        LockClient other = bench.patientClient("");
        Lease held = holder.lock(NAME).acquire();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        bench.server().command("SCRIPT", "FLUSH");
        Bench.awaitRenewal(held);
        assertThat(held.isValid()).isTrue();
        bench.server().command("SCRIPT", "FLUSH");
        held.close();
        serves(waiting, Bench.PATIENCE);
    }

    @Test
    void aLockSurvivesARestartWithPersistence() throws Exception {
        Bench bench = bench(RedisServer.builder().persistent());
        LockClient holder = bench.client(bench.server().url(), Duration.ofSeconds(10), Bench.PATIENCE);
        LockClient other = bench.patientClient("");
        Lease held = holder.lock(NAME).acquireAsync().get();
        long token = held.token();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        bench.server().kill();
        bench.server().start();
        assertThat(held.isValid()).isTrue();
        Bench.await("the waiter is back", () -> holder.inspect(NAME).waiters().size() == 1);
        assertThat(waiting).isNotDone();
        assertThat(other.lock(NAME).tryLock()).isFalse();
        Bench.awaitRenewal(held);
        held.close();
        Lease next = waiting.get(20, TimeUnit.SECONDS);
        assertThat(next.token()).isGreaterThan(token);
        next.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"restart", "flush", "delete", "plain"})
    void aLockThatTheServerForgotIsLostAndItsTokensStillRise(String how) throws Exception {
        Bench bench = bench();
        // A ttl that outlasts a restart on a busy machine: else the hold has expired before it is found to be gone.
        LockClient holder = bench.client(
                bench.server().url() + (how.equals("plain") ? "?queue=off" : ""),
                Duration.ofSeconds(6),
                Bench.PATIENCE);
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease held = holder.lock(NAME).acquireAsync().get();
        long token = held.token();
        held.onLost(reasons::add);
        switch (how) {
            case "restart" -> bench.server().restart();
            case "delete" -> bench.server().command("DEL", KEY);
            default -> bench.server().command("FLUSHALL");
        }
        Bench.await("the loss is reported", () -> !reasons.isEmpty());
        assertThat(reasons).containsExactly(LossReason.REVOKED);
        assertThat(held.isValid()).isFalse();
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
        try (Lease next = holder.lock(NAME).acquire()) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }

    @Test
    void aWaiterSurvivesThatTheServerForgotEverything() throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client(bench.server().url(), Duration.ofSeconds(2), Bench.PATIENCE);
        LockClient other = bench.patientClient("");
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        bench.server().command("FLUSHALL");
        serves(waiting, Bench.PATIENCE);
        Bench.await("the loss is reported", () -> !held.isValid());
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void aMessageAboutAnEarlierLifeOfAClaimIsNotBelieved() throws Exception {
        Bench bench = bench();
        LockClient holder = bench.patientClient("");
        LockClient other = bench.patientClient("");
        Lease held = holder.lock(NAME, FAIR).acquireAsync().get();
        CompletableFuture<Lease> waiting = other.lock(NAME, FAIR).acquireAsync();
        Bench.awaitWaiters(holder, NAME, 1);
        String first = bench.server().command("ZRANGE", KEY + ":queue", "0", "0");
        bench.server().command("DEL", KEY + ":queue", KEY + ":claims");
        Bench.awaitWaiters(holder, NAME, 1);
        assertThat(bench.server().command("ZRANGE", KEY + ":queue", "0", "0")).isNotEqualTo(first);
        String channel = "lockstep:" + first.substring(0, 22);
        bench.server().command("PUBLISH", channel, "granted " + first + " 4711 0");
        for (String nonsense : new String[] {"", "granted", "granted  ", "granted " + first + "/1 x y", "a b c d e"}) {
            bench.server().command("PUBLISH", channel, nonsense);
        }
        Bench.letPass(Duration.ofMillis(500));
        assertThat(waiting).isNotDone();
        held.close();
        serves(waiting, Bench.PATIENCE);
    }

    @Test
    void anUnusedLocksTokenIsForgottenInTime() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client(bench.server().url(), Duration.ofMinutes(1), Bench.PATIENCE);
        client.lock(NAME).acquire().close();
        assertThat(bench.keysInUse()).isEmpty();
        assertThat(Long.parseLong(bench.server().command("PTTL", KEY)))
                .isBetween(1L, Duration.ofMinutes(21).toMillis());
    }
}
