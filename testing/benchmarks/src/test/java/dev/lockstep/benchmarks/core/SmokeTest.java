package dev.lockstep.benchmarks.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Collection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Every benchmark runs, and every one is in the report. The figures of so short a run mean nothing. */
class SmokeTest {
    @Test
    void everyBenchmarkRunsAndIsReported(@TempDir Path folder) throws RunnerException {
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .include("dev\\.lockstep\\.benchmarks\\.core\\.")
                        .forks(0)
                        .warmupIterations(0)
                        .measurementIterations(1)
                        .measurementTime(TimeValue.milliseconds(20))
                        .shouldFailOnError(true)
                        .output(folder.resolve("log").toString())
                        .build())
                .run();

        Measurements measurements = new Measurements();
        BenchmarkReport.record(results, measurements);
        String table = Table.of(measurements);
        for (String benchmark : measurements.benchmarks()) {
            assertThat(measurements.speed(benchmark).min()).as(benchmark).isPositive();
            assertThat(table).contains(benchmark.substring(benchmark.lastIndexOf('.') + 1));
        }
        assertThat(table.lines().filter(line -> line.contains(" … ") && !line.contains("slowest")))
                .hasSize(measurements.benchmarks().size());
    }
}
