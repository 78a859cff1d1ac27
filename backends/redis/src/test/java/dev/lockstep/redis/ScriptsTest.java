package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/** The scripts on the server, in states that no client can bring about at will. */
class ScriptsTest {
    private static final Keys KEYS = new Keys("ns", "name");
    private static final String FIRST = "aaaaaaaaaaaaaaaaaaaaaa.1";
    private static final String SECOND = "bbbbbbbbbbbbbbbbbbbbbb.1";
    private static final String THIRD = "cccccccccccccccccccccc.1";
    private static final long HOUR = Duration.ofHours(1).toMillis();

    private static RedisServer server;
    private static RedisClient jedis;

    @BeforeAll
    static void start() {
        server = Servers.require(() -> RedisServer.builder().start());
        jedis = RedisClient.create("127.0.0.1", server.port());
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            jedis.close();
            server.close();
        }
    }

    @AfterEach
    void clear() {
        jedis.flushAll();
    }

    private static Object run(Script script, byte[][] keys, Object... args) {
        List<byte[]> words = new ArrayList<>();
        for (Object arg : args) {
            words.add(arg.toString().getBytes(StandardCharsets.UTF_8));
        }
        return jedis.eval(script.source(), Arrays.asList(keys), words);
    }

    /** 1 granted, 0 waiting, -1 busy, -2 given up before. */
    private static long acquire(String id, String mode, boolean wait, boolean barge, long ttlMillis) {
        Object reply =
                run(Script.ACQUIRE, KEYS.queued(), id, mode, wait ? 1 : 0, barge ? 1 : 0, ttlMillis, 10_000, "i");
        return (Long) ((List<?>) reply).get(0);
    }

    private static long release(String id, long rememberMillis) {
        return (Long) run(Script.RELEASE, KEYS.queued(), id, rememberMillis);
    }

    private static List<?> look(String... ids) {
        List<Object> args = new ArrayList<>(List.of(10_000, 10_000));
        args.addAll(List.of(ids));
        return (List<?>) run(Script.LOOK, KEYS.queued(), args.toArray());
    }

    private static long renew(String id, long ttlMillis) {
        return (Long) ((List<?>) run(Script.RENEW, KEYS.renewed(), ttlMillis, id)).get(0);
    }

    private static String owner() {
        return jedis.hget(new String(KEYS.lock(), StandardCharsets.UTF_8), "owner");
    }

    /** It may lack what its primary has. */
    @Test
    void aServerThatMayNotWriteDoesNotSayThatAHoldIsGone() {
        server.command("REPLICAOF", "127.0.0.1", "1");
        try {
            assertThatThrownBy(() -> run(Script.KEEP, KEYS.queued(), FIRST, 1_000))
                    .hasMessageContaining("READONLY");
            assertThatThrownBy(() -> run(Script.DOWNGRADE, KEYS.queued(), FIRST, 1_000))
                    .hasMessageContaining("READONLY");
            assertThatThrownBy(() -> renew(FIRST, 1_000)).hasMessageContaining("READONLY");
            assertThatThrownBy(() -> run(Script.PLAIN_RENEW, KEYS.plain(), 1_000, FIRST))
                    .hasMessageContaining("READONLY");
        } finally {
            server.command("REPLICAOF", "NO", "ONE");
        }
    }

    @Test
    void aRequestThatArrivesAfterItsClaimWasGivenUpGetsNothing() {
        assertThat(release(FIRST, 60_000)).isZero();
        assertThat(acquire(FIRST, "X", true, true, 10_000)).isEqualTo(-2);
        assertThat(acquire(FIRST, "S", true, true, 10_000)).isEqualTo(-2);
        assertThat(owner()).isNull();
        assertThat(acquire(SECOND, "X", true, true, 10_000)).isEqualTo(1);
        assertThat(release(SECOND, 0)).isEqualTo(1);
    }

    @Test
    void abandonedClaimsAreForgottenAfterATime() {
        assertThat(release(FIRST, 1_000)).isZero();
        Bench.letPass(Duration.ofMillis(1_050));
        assertThat(jedis.keys("*:gone")).isEmpty();
    }

    /** The scripts have a short way for a lock that nobody else uses; it must leave the same behind as the long one. */
    @Test
    void theShortWayLeavesWhatTheLongOneDoes() {
        String lock = new String(KEYS.lock(), StandardCharsets.UTF_8);
        long start = System.nanoTime();
        assertThat(acquire(FIRST, "X", true, true, 10_000)).isEqualTo(1);
        Map<String, String> takenShort = jedis.hgetAll(lock);
        long keptShort = jedis.pttl(lock);
        assertThat(release(FIRST, 0)).isEqualTo(1);
        Map<String, String> freedShort = jedis.hgetAll(lock);

        assertThat(release(SECOND, 60_000)).isZero(); // that there is a claim which was given up makes it the long way
        assertThat(acquire(FIRST, "X", true, true, 10_000)).isEqualTo(1);
        Map<String, String> takenLong = jedis.hgetAll(lock);

        assertThat(takenShort).containsOnlyKeys("owner", "until", "token", "info");
        assertThat(takenLong).containsOnlyKeys("owner", "until", "token", "info");
        assertThat(takenLong.get("owner")).isEqualTo(takenShort.get("owner"));
        assertThat(takenLong.get("info")).isEqualTo(takenShort.get("info"));
        assertThat(Long.parseLong(takenLong.get("token"))).isGreaterThan(Long.parseLong(takenShort.get("token")));
        long apart = Long.parseLong(takenLong.get("until")) - Long.parseLong(takenShort.get("until"));
        long keptLong = jedis.pttl(lock);
        long passed = Duration.ofNanos(System.nanoTime() - start).toMillis() + 2; // two clocks that are rounded
        assertThat(apart).isBetween(0L, passed);
        assertThat(keptLong).isCloseTo(keptShort, within(passed));
        assertThat(freedShort).containsOnlyKeys("token");
        assertThat(release(FIRST, 1)).isEqualTo(1);
        assertThat(jedis.hgetAll(lock)).containsOnlyKeys("token");
    }

    /** As after the clock was set back: what is forgotten before the clock has passed it would be followed by a lower token. */
    @Test
    void aTokenThatIsAheadOfTheClockIsNotForgottenBeforeTheClockHasPassedIt() {
        aTokenIsRemembered("taken", () -> acquire(FIRST, "X", true, true, 10_000));
        aTokenIsRemembered("taken the long way", () -> {
            release(SECOND, 60_000);
            acquire(FIRST, "X", true, true, 10_000);
        });
        aTokenIsRemembered("taken by a reader", () -> acquire(FIRST, "S", true, true, 10_000));
        aTokenIsRemembered("renewed", () -> {
            acquire(FIRST, "X", true, true, 10_000);
            renew(FIRST, 20_000);
        });
        aTokenIsRemembered("kept for a while", () -> {
            acquire(FIRST, "X", true, true, 10_000);
            run(Script.KEEP, KEYS.queued(), FIRST, 1_000);
        });
        aTokenIsRemembered("taken with others", () -> run(Script.ACQUIRE_MANY, KEYS.taken(), 10_000, "i", FIRST));
        aTokenIsRemembered("taken with others again", () -> {
            run(Script.ACQUIRE_MANY, KEYS.taken(), 10_000, "i", FIRST);
            run(Script.ACQUIRE_MANY, KEYS.taken(), 10_000, "i", FIRST);
        });
        aTokenIsRemembered(
                "taken as one of several servers",
                () -> run(Script.REDLOCK_ACQUIRE, KEYS.queued(), FIRST, 1, 1, 10_000, 10_000, "i"));
    }

    private static void aTokenIsRemembered(String how, Runnable use) {
        jedis.flushAll();
        String lock = new String(KEYS.lock(), StandardCharsets.UTF_8);
        jedis.hset(lock, "token", Long.toString(microsInAnHour()));
        jedis.pexpire(lock, 2 * HOUR);
        use.run();
        assertThat(jedis.hget(lock, "owner") != null || jedis.zcard(lock + ":readers") == 1)
                .as(how)
                .isTrue();
        assertThat(jedis.pttl(lock)).as(how).isGreaterThan(HOUR);
    }

    @Test
    void aTokenOfThePlainLockThatIsAheadOfTheClockIsNotForgottenBeforeTheClockHasPassedIt() {
        String token = new String(KEYS.plain()[1], StandardCharsets.UTF_8);
        jedis.psetex(token, 2 * HOUR, Long.toString(microsInAnHour()));
        run(Script.PLAIN_ACQUIRE, KEYS.plain(), FIRST, 10_000);
        assertThat(jedis.pttl(token)).isGreaterThan(HOUR);
        run(Script.PLAIN_RENEW, KEYS.plain(), 10_000, FIRST);
        assertThat(jedis.pttl(token)).isGreaterThan(HOUR);
    }

    /** Of several servers one may have a clock that is ahead; each that writes its token remembers it until its own clock is. */
    @Test
    void aTokenFromAServerWhoseClockIsAheadIsNotForgottenBeforeTheOwnClockHasPassedIt() {
        run(Script.REDLOCK_ACQUIRE, KEYS.queued(), FIRST, 1, 1, 10_000, 10_000, "i");
        List<?> reply = (List<?>) run(Script.REDLOCK_CONFIRM, KEYS.chartered(), FIRST, 0, microsInAnHour(), 10_000, 3);
        assertThat(reply.get(0)).isEqualTo(1L);
        assertThat(jedis.pttl(new String(KEYS.lock(), StandardCharsets.UTF_8))).isGreaterThan(HOUR);
        renew(FIRST, 10_000);
        assertThat(jedis.pttl(new String(KEYS.lock(), StandardCharsets.UTF_8))).isGreaterThan(HOUR);
    }

    private static long microsInAnHour() {
        return (System.currentTimeMillis() + HOUR) * 1_000;
    }

    @Test
    void aRepeatedRequestFindsWhatItGot() {
        assertThat(acquire(FIRST, "X", true, true, 10_000)).isEqualTo(1);
        assertThat(acquire(FIRST, "X", true, true, 10_000)).isEqualTo(1);
        assertThat(acquire(SECOND, "X", true, true, 10_000)).isZero();
        assertThat(acquire(SECOND, "X", true, true, 10_000)).isZero();
        assertThat(jedis.zcard(queue())).isEqualTo(1);
        assertThat(release(FIRST, 0)).isEqualTo(1);
        assertThat(release(FIRST, 0)).isZero();
        assertThat(acquire(SECOND, "X", true, true, 10_000)).isEqualTo(1);
        assertThat(jedis.exists(queue())).isFalse();
        assertThat(release(SECOND, 0)).isEqualTo(1);
        assertThat(acquire(FIRST, "S", true, true, 10_000)).isEqualTo(1);
        assertThat(acquire(FIRST, "S", true, true, 10_000)).isEqualTo(1);
        assertThat(release(FIRST, 0)).isEqualTo(1);
    }

    @Test
    void aWriterWhoseTimeIsOverDoesNotComeBackBesideAReader() {
        assertThat(acquire(FIRST, "X", true, true, 50)).isEqualTo(1);
        Bench.letPass(Duration.ofMillis(80));
        assertThat(acquire(SECOND, "S", true, true, 10_000)).isEqualTo(1);
        assertThat(renew(FIRST, 10_000)).isZero();
        assertThat(release(FIRST, 0)).isZero();
        assertThat(renew(SECOND, 10_000)).isEqualTo(1);
    }

    @Test
    void aReaderWhoseTimeIsOverDoesNotComeBackBesideAWriter() {
        assertThat(acquire(FIRST, "S", true, true, 50)).isEqualTo(1);
        Bench.letPass(Duration.ofMillis(80));
        assertThat(acquire(SECOND, "X", true, true, 10_000)).isEqualTo(1);
        assertThat(renew(FIRST, 10_000)).isZero();
        assertThat(renew(SECOND, 10_000)).isEqualTo(1);
    }

    @Test
    void aWaiterIsOvertakenOnceAtMost() {
        acquire(FIRST, "X", true, true, 10_000);
        assertThat(acquire(SECOND, "X", true, true, 10_000)).isZero();
        release(FIRST, 0);
        assertThat(owner()).isNull(); // it has learned that the lock is free
        assertThat(acquire(THIRD, "X", true, true, 10_000)).isEqualTo(1);
        assertThat(look(SECOND).get(1)).isEqualTo(0L); // came too late
        release(THIRD, 0);
        assertThat(owner()).isEqualTo(SECOND);
    }

    @Test
    void aWaiterThatDoesNotComeIsPassedOver() {
        acquire(FIRST, "X", true, true, 10_000);
        acquire(SECOND, "X", true, true, 10_000);
        acquire(THIRD, "X", true, false, 10_000);
        long start = System.nanoTime();
        release(FIRST, 0);
        long looked = (Long) look(THIRD).get(1);
        if (System.nanoTime() - start < Duration.ofMillis(250).toNanos()) { // else a busy machine has used its time up
            assertThat(looked).isZero(); // the second may still be on its way
        }
        Bench.letPass(Duration.ofMillis(350));
        assertThat((Long) look(THIRD).get(1)).isPositive();
        assertThat(look(SECOND).get(1)).isEqualTo(-1L);
    }

    @Test
    void aWaiterThatLeavesPassesOnThatTheLockIsFree() {
        acquire(FIRST, "X", true, true, 10_000);
        acquire(SECOND, "X", true, true, 10_000);
        acquire(THIRD, "X", true, false, 10_000);
        release(FIRST, 0);
        release(SECOND, 0);
        assertThat(owner()).isEqualTo(THIRD);
    }

    @Test
    void aRenewalNeverTakesTimeAway() {
        acquire(FIRST, "X", true, true, 60_000);
        String before = jedis.hget(new String(KEYS.lock(), StandardCharsets.UTF_8), "until");
        assertThat(renew(FIRST, 10)).isEqualTo(1);
        acquire(FIRST, "X", true, true, 10);
        assertThat(jedis.hget(new String(KEYS.lock(), StandardCharsets.UTF_8), "until"))
                .isEqualTo(before);
    }

    @Test
    void aTryThatMayNotWaitLeavesNothing() {
        acquire(FIRST, "X", true, true, 10_000);
        assertThat(acquire(SECOND, "X", false, true, 10_000)).isEqualTo(-1);
        assertThat(acquire(SECOND, "S", false, false, 10_000)).isEqualTo(-1);
        acquire(THIRD, "X", true, false, 10_000); // granted by the claim that frees it, however late this test is
        release(FIRST, 0);
        assertThat(owner()).isEqualTo(THIRD);
        assertThat(acquire(SECOND, "S", false, true, 10_000)).isEqualTo(-1);
        assertThat(jedis.exists(queue())).isFalse();
    }

    @Test
    void aTryThatMayNotWaitComesBeforeAWaiterOnlyIfItMayBarge() {
        boolean inTime;
        do {
            jedis.flushAll();
            acquire(FIRST, "X", true, true, 10_000);
            acquire(THIRD, "X", true, true, 10_000);
            long start = System.nanoTime();
            release(FIRST, 0);
            long shared = acquire(SECOND, "S", false, true, 10_000);
            long patient = acquire(SECOND, "X", false, false, 10_000);
            long barging = acquire(SECOND, "X", false, true, 10_000);
            // A waiter that does not come for longer loses its place, which is not what is shown.
            inTime = System.nanoTime() - start < Duration.ofMillis(250).toNanos();
            if (inTime) {
                assertThat(List.of(shared, patient, barging)).containsExactly(-1L, -1L, 1L);
                assertThat(jedis.zcard(queue())).isEqualTo(1);
            }
        } while (!inTime);
    }

    private static String queue() {
        return new String(KEYS.queued()[1], StandardCharsets.UTF_8);
    }
}
