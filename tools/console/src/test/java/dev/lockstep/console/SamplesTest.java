package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The part of samples that is kept. */
class SamplesTest {
    private static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

    static Sample sample(int seconds, Located... locks) {
        return sample(seconds, true, locks);
    }

    static Sample sample(int seconds, boolean reachable, Located... locks) {
        return sample(START.plusSeconds(seconds), reachable, locks);
    }

    private static Sample sample(Instant at, boolean reachable, Located... locks) {
        return new Sample(
                Duration.between(START, at).toSeconds() + 1,
                at,
                new Sample.Engine(null, Optional.empty(), reachable ? null : "silent", at, false),
                Sample.Cost.NONE,
                List.of("ns"),
                List.of(locks),
                Blockers.of(List.of(locks), at),
                Set.of());
    }

    /** One that lists not all locks that there are. */
    private static Sample truncated(int seconds, Located... locks) {
        Sample all = sample(seconds, locks);
        return new Sample(
                all.version(),
                all.at(),
                all.engine(),
                new Sample.Cost(Duration.ZERO, 1, true, Duration.ZERO),
                all.namespaces(),
                all.locks(),
                all.blockers(),
                all.confirmed());
    }

    private static Located contended(String name, int waiters) {
        LockInfo.Entry[] queue = new LockInfo.Entry[waiters];
        for (int i = 0; i < waiters; i++) {
            queue[i] = BlockersTest.entry("w" + i, 1);
        }
        return BlockersTest.lock(name, List.of(BlockersTest.entry("holder", 5)), queue);
    }

    @Nested
    class HeatOf {
        @Test
        void waiterSecondsAreWaitersTimesTime() {
            Heat heat = new Heat();
            heat.add(sample(0, contended("order:1", 2)));
            heat.add(sample(2, contended("order:1", 2), contended("order:2", 1), contended("stock/9", 1)));
            List<Heat.Row> rows = heat.rows(10);
            assertThat(rows).extracting(Heat.Row::prefix).containsExactly("order:", "stock/");
            assertThat(rows.get(0).total()).isEqualTo(6);
            assertThat(rows.get(0).seconds()).hasSize(Heat.MINUTES).last().isEqualTo(6.0);
            assertThat(heat.minutes()).hasSize(Heat.MINUTES);
        }

        @Test
        void minutesPassAndAreForgotten() {
            Heat heat = new Heat();
            heat.add(sample(0, contended("a", 1)));
            heat.add(sample(1, contended("a", 1)));
            heat.add(sample(61, contended("b", 1)));
            assertThat(heat.rows(10)).anySatisfy(row -> {
                assertThat(row.prefix()).isEqualTo("a");
                assertThat(row.seconds().get(Heat.MINUTES - 2)).isEqualTo(1.0);
            });
            heat.add(sample(2 * 3600, contended("c", 1)));
            assertThat(heat.rows(10)).extracting(Heat.Row::prefix).containsExactly("c");
        }

        @Test
        void aLongPauseCountsAsHalfAMinuteAndManyPrefixesAsOthers() {
            Heat heat = new Heat();
            heat.add(sample(0));
            Located[] many = new Located[Heat.MOST_PREFIXES + 10];
            for (int i = 0; i < many.length; i++) {
                many[i] = contended("p" + i + ":x", 1);
            }
            heat.add(sample(50, many));
            assertThat(heat.rows(1_000)).hasSize(Heat.MOST_PREFIXES + 1);
            assertThat(heat.rows(1).get(0)).matches(row -> row.prefix().equals(Heat.OTHERS) && row.total() == 300);
        }
    }

    @Nested
    class HistoryOf {
        @Test
        void momentsAreAtLeastFiveSecondsApartUnlessSomethingHappens() {
            History history = new History();
            history.add(sample(0, contended("a", 1)));
            history.add(sample(1, contended("a", 2)));
            history.add(sample(2, false));
            history.add(sample(3, contended("a", 3)));
            history.add(sample(8, contended("a", 4)));
            assertThat(history.moments()).extracting(History.Moment::waiting).containsExactly(1, 0, 3, 4);
        }

        @Test
        void theMomentOfAnInstantIsTheLastBeforeIt() {
            History history = new History();
            assertThat(history.at(START)).isNull();
            history.add(sample(0, contended("a", 1)));
            history.add(sample(10, contended("a", 2)));
            assertThat(history.at(START.plusSeconds(9))).extracting("waiting").isEqualTo(1);
            assertThat(history.at(START.plusSeconds(99))).extracting("waiting").isEqualTo(2);
            assertThat(history.at(START.minusSeconds(9))).extracting("waiting").isEqualTo(1);
        }

        @Test
        void theMomentThatThePageAsksForIsFoundAlthoughItsClockIsFiner() {
            History history = new History();
            for (int i = 0; i < 3; i++) {
                history.add(sample(START.plusSeconds(10 * i).plusNanos(1_234_567), true, contended("a", i)));
            }
            Instant middle = history.moments().get(1).at();
            Map<String, Object> view = Views.history(history, Instant.ofEpochMilli(middle.toEpochMilli()));
            assertThat(view).containsEntry("at", middle.toEpochMilli()).containsEntry("waiting", 1);
        }

        @Test
        void aMomentIsSmallHoweverManyLocksAndWaitersThereAre() {
            Located[] many = new Located[3_000];
            many[0] = contended("root", 5_000);
            for (int i = 1; i < many.length; i++) {
                many[i] = BlockersTest.lock(
                        "l" + i,
                        List.of(BlockersTest.waiting(BlockersTest.entry("h" + i, 9), "root")),
                        BlockersTest.entry("w" + i, 1));
            }
            History history = new History();
            history.add(sample(0, many));
            History.Moment moment = history.moments().get(0);
            assertThat(moment.waiting()).isEqualTo(5_000 + 2_999);
            assertThat(moment.shown().json()).hasSizeLessThan(20_000).contains("\"waiters\":7999", "\"more\":2988");
        }

        @Test
        void itIsBounded() {
            History history = new History();
            for (int i = 0; i < History.MOST + 50; i++) {
                history.add(sample(i * 10));
            }
            assertThat(history.moments()).hasSize(History.MOST);
        }
    }

    @Nested
    class ChangesOf {
        private final Located.Key key = new Located.Key("ns", "a");

        @Test
        void changesOfAClaimAreSeen() {
            Changes changes = new Changes();
            LockInfo.Entry one = BlockersTest.entry("one", 9);
            LockInfo.Entry two = BlockersTest.entry("two", 5);
            LockInfo.Entry three = BlockersTest.entry("three", 5);
            changes.add(sample(0, BlockersTest.lock("a", List.of(one))));
            assertThat(changes.of(key)).isEmpty();
            changes.add(sample(1, BlockersTest.lock("a", List.of(one), two, three)));
            changes.add(sample(2, BlockersTest.lock("a", List.of(two))));
            changes.add(sample(3));
            assertThat(changes.of(key).stream()
                            .map(change -> change.entry().holder().client() + " " + change.kind())
                            .toList())
                    .containsExactly(
                            "two RELEASED",
                            "two ACQUIRED",
                            "three LEFT",
                            "one RELEASED",
                            "three WAITING",
                            "two WAITING");
        }

        @Test
        void aLockThatIsListedOnlySometimesHasNotChanged() {
            Changes changes = new Changes();
            Located one = BlockersTest.lock("a", List.of(BlockersTest.entry("one", 9)));
            changes.add(sample(0, one));
            changes.add(truncated(1));
            changes.add(truncated(2, one));
            changes.add(truncated(3));
            changes.add(sample(4, one));
            assertThat(changes.of(key)).isEmpty();
            changes.add(sample(5));
            assertThat(changes.of(key)).extracting(Changes.Change::kind).containsExactly(Changes.Kind.RELEASED);
        }

        @Test
        void aListedLockIsFollowedAlthoughOthersAreNot() {
            Changes changes = new Changes();
            LockInfo.Entry one = BlockersTest.entry("one", 9);
            LockInfo.Entry two = BlockersTest.entry("two", 9);
            changes.add(truncated(0, BlockersTest.lock("a", List.of(one), two)));
            changes.add(truncated(1, BlockersTest.lock("a", List.of(two))));
            assertThat(changes.of(key))
                    .extracting(Changes.Change::kind)
                    .containsExactly(Changes.Kind.ACQUIRED, Changes.Kind.RELEASED);
        }

        @Test
        void theyAreBounded() {
            Changes changes = new Changes();
            changes.add(sample(0));
            for (int i = 1; i < 3 * Changes.MOST_EACH; i++) {
                changes.add(
                        i % 2 == 0
                                ? sample(i)
                                : sample(i, BlockersTest.lock("a", List.of(BlockersTest.entry("one", 9)))));
            }
            assertThat(changes.of(key)).hasSize(Changes.MOST_EACH);
        }
    }

    @Test
    void aLockThatWasNotListedIsNotCalledFree() {
        Located listed = contended("a", 1);
        Located.Key other = new Located.Key("ns", "b");
        assertThat(new Views(truncated(0, listed)).lock(other, List.of())).containsEntry("unlisted", true);
        assertThat(new Views(truncated(0, listed)).lock(listed.key(), List.of()))
                .containsEntry("unlisted", false);
        assertThat(new Views(sample(0, listed)).lock(other, List.of())).containsEntry("unlisted", false);
    }

    @Test
    void jsonIsHarmlessInsideHtmlAndScripts() {
        assertThat(Json.write(Map.of("name", "</script><b>\"\\\n\u2028&")))
                .isEqualTo("{\"name\":\"\\u003c/script\\u003e\\u003cb\\u003e\\\"\\\\\\u000a\\u2028\\u0026\"}");
        assertThat(Json.write(List.of(1, true, List.of(), Map.of()))).isEqualTo("[1,true,[],{}]");
    }

    @Test
    void theShareOfTheCostIsBounded() {
        Duration took = Duration.ofMillis(700);
        assertThat(new Sample.Cost(took, 1, false, took.multipliedBy(Poller.REST_FACTOR)).share())
                .isEqualTo(0.05);
    }
}
