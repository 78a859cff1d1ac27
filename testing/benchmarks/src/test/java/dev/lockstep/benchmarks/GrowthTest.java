package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.servers.ServerException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Curves, from processes to the picture, in a few seconds. Figures of so short a run mean nothing. */
class GrowthTest {
    @TempDir
    private Path root;

    private GrowthOptions options(String line) {
        return GrowthOptions.parse(List.of(line.split(" ")), root);
    }

    @Test
    @Tag("full")
    void pointsAreMeasuredAndDrawn() throws Exception {
        GrowthOptions options = options("--engine memory --curve uses,held --most 100 --seconds 0.5");

        assertThat(Growth.run(options, RunningEngine::start)).isTrue();

        for (String curve : List.of("uses", "held")) {
            assertThat(options.output().resolve("growth-memory-" + curve + ".json"))
                    .content()
                    .contains("\"n\": 100", "\"p50\"", "\"load before\"");
            assertThat(options.output().resolve("growth-memory-" + curve + ".svg"))
                    .content()
                    .contains("<polyline", ">Lockstep</text>");
        }
        assertThat(Files.exists(options.output().resolve("growth-memory-names.json")))
                .isFalse();
    }

    @Test
    @Tag("full")
    void pointsBeforeAFailureAreKeptAndDrawn() throws Exception {
        GrowthOptions options = options("--engine memory --curve uses --most 1000 --seconds 0.05");
        Path json = options.json(Engine.MEMORY, Curve.USES);
        IntFunction<String> failing = port -> {
            if (Files.exists(json)) { // after the first point
                throw new ServerException("The server has gone");
            }
            return "memory:growth";
        };

        assertThat(Growth.run(options, engine -> new RunningEngine(failing, () -> 0, () -> {})))
                .isFalse();

        assertThat(json).content().contains("\"n\": 100").doesNotContain("\"n\": 1000");
        assertThat(options.output().resolve("growth-memory-uses.svg")).content().contains("<polyline");
    }

    @Test
    void wrongOptionsAreRefused() {
        for (String line : List.of("--curve speed", "--curve", "--most 0", "--quick", "--engine oracle")) {
            assertThatIllegalArgumentException().isThrownBy(() -> options(line));
        }
    }

    @Test
    void pointsEndAtTheLimit() {
        assertThat(Curve.USES.points(Engine.REDIS, 10_000)).containsExactly(100, 1000, 10_000);
        assertThat(Curve.PROCESSES.points(Engine.REDIS, Integer.MAX_VALUE)).containsExactly(2, 4, 8, 16, 32);
        assertThat(Curve.WAITING.points(Engine.REDIS, 100)).containsExactly(1, 10, 100);
        assertThat(Curve.CLIENTS.points(Engine.REDIS, Integer.MAX_VALUE)).containsExactly(10, 100, 1000, 5000);
        assertThat(Curve.CLIENTS.points(Engine.REDIS, 5)).containsExactly(10);
    }

    @ParameterizedTest
    @CsvSource({"MEMORY, 10000000", "REDIS, 1000000", "REDIS_AOF, 100000", "ETCD, 100000", "H2, 100000"})
    void slowEnginesGetFewerNames(Engine engine, int last) {
        List<Integer> points = Curve.NAMES.points(engine, Integer.MAX_VALUE);

        assertThat(points).startsWith(160, 1600, 16_000).endsWith(last);
        assertThat(points).allMatch(point -> point % 16 == 0); // as many for each thread
    }

    @Test
    void lockstepMeetsOnePeer() {
        assertThat(Growth.entrants(Engine.REDIS, Curve.USES))
                .extracting(Entrant::name, Entrant::variant)
                .containsExactly(tuple(Entrant.LOCKSTEP, ""), tuple(Entrant.REDISSON, ""));
        assertThat(Growth.entrants(Engine.MEMORY, Curve.USES))
                .extracting(Entrant::name, Entrant::variant)
                .containsExactly(tuple(Entrant.LOCKSTEP, ""));
        assertThat(Growth.entrants(Engine.ETCD, Curve.PROCESSES))
                .extracting(Entrant::name)
                .containsExactly(Entrant.FAIR, Entrant.JETCD);
    }

    @Test
    @Tag("full")
    void eachContenderHasAServerOfItsOwn() throws Exception {
        AtomicInteger started = new AtomicInteger();
        AtomicInteger closed = new AtomicInteger();

        boolean all = Growth.run(options("--engine redis --curve clients --most 10"), engine -> {
            started.incrementAndGet();
            return new RunningEngine(port -> "nowhere:", () -> 0, closed::incrementAndGet);
        });

        assertThat(all).isFalse();
        assertThat(started).hasValue(2);
        assertThat(closed).hasValue(2);
    }

    @Test
    void missedGoalOfACurveIsSaid() {
        assertThat(goal(Engine.MARIADB, 300, 250, 210, 205, 40)).contains("at least 200 ops/s up to 16: met");
        assertThat(goal(Engine.MARIADB, 300, 190, 210, 30, 40)).contains("missed at 4, 16");
        assertThat(goal(Engine.MARIADB, 300, 190)).isEmpty();
        assertThat(goal(Engine.POSTGRESQL, 300, 250, 210, 30, 40)).isEmpty();
    }

    /** The goal for one fair name, with so many locks per second with 2, 4, 8, … processes. */
    private static String goal(Engine engine, double... figures) {
        List<Growth.Point> points = new ArrayList<>();
        for (double figure : figures) {
            points.add(new Growth.Point(2 << points.size(), Map.of(Measure.OPS.key, figure)));
        }
        return GrowthChart.goal(
                engine, Curve.PROCESSES, new Growth.Line("", "", "", new Conditions(Map.of(), Map.of()), points));
    }
}
