package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The scripts of semaphores on the server, in states that no client can bring about at will. A claim that must
 * live has ten seconds, for a few requests; one that must be dead has one millisecond, and then more than that passes.
 */
class SemaphoreScriptsTest {
    private static final Keys KEYS = new Keys("ns", "name");
    private static final String LOCK = new String(KEYS.lock(), StandardCharsets.UTF_8);

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

    private static Object run(Script script, Object... args) {
        List<byte[]> words = new ArrayList<>();
        for (Object arg : args) {
            words.add(arg.toString().getBytes(StandardCharsets.UTF_8));
        }
        return jedis.eval(script.source(), Arrays.asList(KEYS.queued()), words);
    }

    private static String id(int number) {
        return String.format("%022d.1", number);
    }

    /** The reply of a claim for permits. */
    private static List<?> claim(int id, int limit, int permits, boolean wait, long ttlMillis) {
        return (List<?>) run(Script.ACQUIRE, id(id), "S", wait ? 1 : 0, 1, ttlMillis, ttlMillis, "i", limit, permits);
    }

    /** 1 granted, 0 waiting, -1 busy, -3 refused. */
    private static long acquire(int id, int limit, int permits) {
        return (Long) claim(id, limit, permits, true, 10_000).get(0);
    }

    private static long lock(int id, String mode) {
        return (Long) ((List<?>) run(Script.ACQUIRE, id(id), mode, 1, 1, 10_000, 10_000, "i")).get(0);
    }

    private static long release(int id) {
        return (Long) run(Script.RELEASE, id(id), 0);
    }

    /** The time of a holder ends, as if nobody renewed it. */
    private static void dies(int id) {
        assertThat(run(Script.KEEP, id(id), 1)).isEqualTo(1L);
        Bench.letPass(Duration.ofMillis(5));
    }

    private static List<Long> slots(int id) {
        return ((List<?>) run(Script.SLOTS, id(id)))
                .stream().map(Long.class::cast).toList();
    }

    private static boolean holds(int id) {
        return jedis.zscore(LOCK + ":readers", id(id)) != null;
    }

    @Test
    void aClaimForManyPermitsIsNotPassed() {
        assertThat(acquire(1, 3, 1)).isEqualTo(1);
        assertThat(acquire(2, 3, 3)).isZero();
        assertThat(acquire(3, 3, 1)).isZero();
        assertThat((Long) claim(4, 3, 1, false, 10_000).get(0)).isEqualTo(-1);
        assertThat(acquire(5, 3, 3)).isZero();
        release(1);
        assertThat(holds(2)).isTrue();
        assertThat(holds(3)).isFalse();
        release(2);
        assertThat(holds(3)).isTrue();
        assertThat(holds(5)).isFalse();
        release(3);
        assertThat(holds(5)).isTrue();
        release(5);
        assertThat(jedis.keys("*")).containsExactly(LOCK);
        assertThat(jedis.hkeys(LOCK)).containsExactly("token");
    }

    /**
     * The scripts have a short way for a semaphore without other claims; it must leave the same behind as the long one.
     */
    @Test
    void theShortWayLeavesWhatTheLongOneDoes() {
        for (int limit : new int[] {0, 5}) {
            List<Map<String, String>> left = new ArrayList<>();
            for (boolean longWay : new boolean[] {false, true}) {
                for (int id = 1; id <= 3; id++) {
                    if (longWay) {
                        run(
                                Script.RELEASE,
                                id(9),
                                60_000); // that there is a claim which was given up makes it the long way
                    }
                    assertThat(limit == 0 ? lock(id, "S") : acquire(id, limit, 1))
                            .isEqualTo(1);
                }
                assertThat(jedis.hget(LOCK, "token"))
                        .isEqualTo(jedis.hget(LOCK + ":claims", id(3)).split(" ")[1]);
                left.add(state());
                for (int id = 1; id <= 3; id++) {
                    assertThat((Long) run(Script.RELEASE, id(id), longWay ? 1 : 0))
                            .isEqualTo(1);
                    left.add(state());
                }
                assertThat(jedis.hkeys(LOCK)).containsExactly("token");
                jedis.flushAll();
            }
            assertThat(left.subList(4, 8)).isEqualTo(left.subList(0, 4));
        }
    }

    /** All keys but the one that makes it the long way, with what is in them, without tokens and times. */
    private static Map<String, String> state() {
        Map<String, String> state = new HashMap<>();
        for (String key : jedis.keys("*")) {
            if (jedis.type(key).equals("hash")) {
                Map<String, String> fields = new TreeMap<>(jedis.hgetAll(key));
                fields.replaceAll((field, value) -> value.replaceAll("\\d{10,}", "<number>"));
                state.put(key, fields + " expires " + (jedis.pttl(key) > 0));
            } else if (!key.endsWith(":gone")) {
                state.put(key, jedis.zrange(key, 0, -1) + " expires " + (jedis.pttl(key) > 0));
            }
        }
        return state;
    }

    @Test
    void aRepeatedRequestFindsItsPermits() {
        Object token = claim(1, 3, 2, true, 10_000).get(1);
        assertThat(claim(1, 3, 2, true, 10_000).subList(0, 2)).isEqualTo(List.of(1L, token));
        assertThat(acquire(2, 3, 2)).isZero();
        assertThat(acquire(2, 3, 2)).isZero();
        assertThat(jedis.zcard(LOCK + ":queue")).isEqualTo(1);
        release(1);
        assertThat(acquire(2, 3, 2)).isEqualTo(1);
        assertThat(acquire(3, 3, 1)).isEqualTo(1);
    }

    @Test
    void aRefusalLeavesNothing() {
        assertThat(acquire(1, 3, 1)).isEqualTo(1);
        Set<String> before = jedis.keys("*");
        assertThat(claim(2, 4, 1, true, 10_000)).isEqualTo(List.of(-3L, 3L));
        assertThat(lock(2, "X")).isEqualTo(-3);
        assertThat(lock(2, "S")).isEqualTo(-3);
        assertThat(jedis.keys("*")).isEqualTo(before);
        release(1);
        for (String mode : List.of("X", "S")) {
            assertThat(lock(1, mode)).isEqualTo(1);
            assertThat(claim(2, 4, 1, true, 10_000)).isEqualTo(List.of(-3L, 0L));
            release(1);
        }
        assertThat(acquire(2, 4, 4)).isEqualTo(1);
    }

    @Test
    void aWaiterKeepsTheNumberOfPermitsToo() {
        assertThat(lock(1, "X")).isEqualTo(1);
        assertThat(lock(2, "X")).isZero();
        dies(1);
        assertThat(claim(3, 4, 1, true, 10_000)).isEqualTo(List.of(-3L, 0L));
        release(2);
        assertThat(acquire(3, 4, 1)).isEqualTo(1);
    }

    /** All of them died: neither the number of permits nor their shares count any more. */
    @Test
    void leftoversOfDeadClientsDoNotCount() {
        assertThat(acquire(1, 3, 3)).isEqualTo(1);
        assertThat((Long) claim(2, 3, 3, true, 1).get(0)).isZero();
        dies(1);
        assertThat(lock(3, "X")).isEqualTo(1);
        release(3);
        assertThat((Long) claim(1, 3, 3, true, 10_000).get(0)).isEqualTo(1);
        jedis.del(LOCK + ":readers", LOCK + ":claims"); // as when their time is over
        assertThat(acquire(2, 3, 1)).isEqualTo(1);
        assertThat(acquire(3, 3, 2)).isEqualTo(1);
        assertThat(acquire(4, 3, 1)).isZero();
    }

    /** The record of a holder can outlive the set of holders, if a claim has waited behind it and left. */
    @Test
    void aReleaseThatComesTooLateFreesNoPermitsOfOthers() {
        assertThat(acquire(1, 5, 3)).isEqualTo(1);
        jedis.del(LOCK + ":readers"); // as when its time is over
        assertThat(acquire(2, 5, 4)).isEqualTo(1);
        assertThat(release(1)).isZero();
        assertThat(acquire(3, 5, 2)).isZero();
        assertThat(acquire(4, 5, 1)).isZero();
        release(2);
        assertThat(holds(3)).isTrue();
        assertThat(holds(4)).isTrue();
    }

    @Test
    void aDeadHolderOfSeveralPermitsFreesThemAll() {
        assertThat(acquire(1, 5, 3)).isEqualTo(1);
        assertThat(acquire(2, 5, 2)).isEqualTo(1);
        assertThat(acquire(3, 5, 4)).isZero();
        dies(1);
        assertThat(acquire(3, 5, 4)).isZero();
        release(2);
        assertThat(holds(3)).isTrue();
        assertThat(acquire(4, 5, 1)).isEqualTo(1);
        assertThat(acquire(5, 5, 1)).isZero();
    }

    @Test
    void anOlderHolderThatAsksLaterHasASlotThatNoYoungerOneHad() {
        acquire(1, 2, 1);
        acquire(2, 2, 1);
        assertThat(slots(2)).containsExactly(0L);
        release(2);
        acquire(3, 2, 1);
        assertThat(slots(3)).containsExactly(0L);
        release(3);
        assertThat(slots(1)).containsExactly(1L);
        assertThat(slots(1)).containsExactly(1L);
        assertThat(slots(3)).isEmpty();
    }

    /** Whatever the order of requests, no two have a slot at once, and tokens rise for each slot. */
    @Test
    void slotsAreUniqueAndTheirTokensRise() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int limit = 4;
        Map<Integer, Long> tokens = new LinkedHashMap<>();
        Map<Integer, List<Long>> asked = new HashMap<>();
        Map<Long, Long> marks = new HashMap<>();
        for (int i = 0; i < 600; i++) {
            int free = limit
                    - tokens.keySet().stream()
                            .mapToInt(id -> id % 3 == 0 ? 2 : 1)
                            .sum();
            int permits = i % 3 == 0 ? 2 : 1;
            List<Integer> held = new ArrayList<>(tokens.keySet());
            if (permits <= free) {
                tokens.put(i, (Long) claim(i, limit, permits, true, 60_000).get(1));
            } else if (random.nextInt(3) == 0) {
                int id = held.get(random.nextInt(held.size()));
                release(id);
                tokens.remove(id);
                asked.remove(id);
            } else {
                int id = held.get(random.nextInt(held.size()));
                long token = tokens.get(id);
                List<Long> slots = slots(id);
                assertThat(slots)
                        .as("seed %d", seed)
                        .hasSize(id % 3 == 0 ? 2 : 1)
                        .allMatch(slot -> slot < limit);
                if (asked.put(id, slots) == null) {
                    slots.forEach(slot -> assertThat(marks.merge(slot, token, (old, now) -> old < now ? now : -1))
                            .as("seed %d", seed)
                            .isEqualTo(token));
                }
                Set<Long> unique = new HashSet<>();
                assertThat(asked.values().stream().flatMap(List::stream).allMatch(unique::add))
                        .as("seed %d", seed)
                        .isTrue();
            }
        }
    }

    @Test
    void aLockInAnotherFormatIsNotTouched() {
        jedis.hset(LOCK, "format", "2");
        jedis.hset(LOCK, "owner", id(1));
        Map<String, String> before = jedis.hgetAll(LOCK);
        assertThatThrownBy(() -> lock(2, "X"))
                .isInstanceOf(JedisDataException.class)
                .hasMessageContaining("LOCKSTEP_FORMAT 2");
        assertThatThrownBy(() -> acquire(2, 3, 1)).hasMessageContaining("LOCKSTEP_FORMAT 2");
        assertThatThrownBy(() -> release(2)).hasMessageContaining("LOCKSTEP_FORMAT 2");
        assertThatThrownBy(() -> run(Script.FORCE)).hasMessageContaining("LOCKSTEP_FORMAT 2");
        assertThat(jedis.keys("*")).containsExactly(LOCK);
        assertThat(jedis.hgetAll(LOCK)).isEqualTo(before);
    }

    /** If a server loses the lock's key and keeps the others, waiters must ask again rather than hold without a limit. */
    @Test
    void aWaiterWhoseNumberOfPermitsWasLostAsksAgain() {
        acquire(1, 1, 1);
        assertThat(acquire(2, 1, 1)).isZero();
        jedis.del(LOCK);
        release(1);
        assertThat(holds(2)).isFalse();
        assertThat(((List<?>) run(Script.LOOK, 10_000, 10_000, id(2))).get(1)).isEqualTo(-1L);
        assertThat(acquire(2, 1, 1)).isEqualTo(1);
    }
}
