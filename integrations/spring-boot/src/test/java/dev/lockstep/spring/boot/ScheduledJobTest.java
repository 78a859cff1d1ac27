package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lockstep.annotation.Locked;
import dev.lockstep.annotation.Locked.OnBusy;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * A job of 1 ms in two instances whose clocks differ, on a schedule that is scaled down, while the instances are restarted one
 * after the other: it runs once for each tick.
 */
class ScheduledJobTest {
    private static final Duration PERIOD = Duration.ofMillis(80);
    private static final Duration MIN_HOLD = Duration.ofMillis(55);
    private static final Duration SKEW = Duration.ofMillis(20);

    /** Locks end by the engine's clock, in whole milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(2);

    /**
     * One run of the job.
     *
     * @param tick which tick it was for
     * @param called when the instance called the method, by {@code System.nanoTime()}
     * @param started when the method began to run
     * @param late how long after the tick that was, by the instance's own clock
     */
    record Run(long tick, long called, long started, Duration late) {}

    /** The schedule of an instance: like cron, ticks are at whole multiples of the period, by the instance's clock. */
    static class Ticks {
        private final Clock clock;
        private Instant planned = Instant.EPOCH;
        private long called;

        Ticks(Clock clock) {
            this.clock = clock;
        }

        Instant next() {
            long period = PERIOD.toMillis();
            long last = Math.max(clock.millis(), planned.toEpochMilli());
            planned = Instant.ofEpochMilli((last / period + 1) * period);
            return planned;
        }
    }

    /** The job. */
    static class Report {
        private final Ticks ticks;
        private final Queue<Run> runs;

        Report(Ticks ticks, Queue<Run> runs) {
            this.ticks = ticks;
            this.runs = runs;
        }

        @Locked(name = "report", onBusy = OnBusy.SKIP, minHold = "${report.min-hold}")
        public void run() throws InterruptedException {
            runs.add(new Run(
                    ticks.planned.toEpochMilli() / PERIOD.toMillis(),
                    ticks.called,
                    System.nanoTime(),
                    Duration.between(ticks.planned, ticks.clock.instant())));
            Thread.sleep(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration(LockstepAutoConfiguration.class)
    static class Application {
        @Bean
        ThreadPoolTaskScheduler taskScheduler(Clock clock) {
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
            scheduler.setClock(clock);
            scheduler.setWaitForTasksToCompleteOnShutdown(true);
            return scheduler;
        }

        @Bean
        Ticks ticks(Clock clock) {
            return new Ticks(clock);
        }

        @Bean
        Report report(Ticks ticks, Queue<Run> runs) {
            return new Report(ticks, runs);
        }

        @Bean
        SchedulingConfigurer schedule(Report report, Ticks ticks) {
            return registrar -> registrar.addTriggerTask(
                    () -> {
                        ticks.called = System.nanoTime();
                        try {
                            report.run();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    },
                    last -> ticks.next());
        }
    }

    private static ConfigurableApplicationContext start(Duration skew, Queue<Run> runs, String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties("report.min-hold=" + MIN_HOLD.toMillis() + "ms", "spring.main.banner-mode=off")
                .properties(properties)
                .initializers(context -> {
                    context.getBeanFactory().registerSingleton("clock", Clock.offset(Clock.systemUTC(), skew));
                    context.getBeanFactory().registerSingleton("runs", runs);
                })
                .run();
    }

    /** Runs two instances until there were runs for some ticks, and restarts one of them every now and then. */
    private static void schedule(int ticks, int ticksBetweenRestarts, String... properties) {
        Queue<Run> runs = new ConcurrentLinkedQueue<>();
        List<ConfigurableApplicationContext> instances = new ArrayList<>();
        try {
            instances.add(start(Duration.ZERO, runs, properties));
            instances.add(start(SKEW, runs, properties));
            for (int tick = ticksBetweenRestarts; tick < ticks; tick += ticksBetweenRestarts) {
                awaitTicks(runs, tick);
                int oldest = tick / ticksBetweenRestarts % 2;
                instances.get(oldest).close();
                instances.set(oldest, start(oldest == 0 ? Duration.ZERO : SKEW, runs, properties));
            }
            awaitTicks(runs, ticks);
        } finally {
            instances.forEach(ConfigurableApplicationContext::close);
        }
        verify(List.copyOf(runs));
    }

    /** However long a busy machine takes; the test's own time limit ends it. */
    private static void awaitTicks(Queue<Run> runs, int ticks) {
        await().pollInterval(PERIOD)
                .atMost(Duration.ofMinutes(10))
                .until(() -> runs.stream().mapToLong(Run::tick).distinct().count() >= ticks);
    }

    private static void verify(List<Run> all) {
        List<Run> runs =
                all.stream().sorted(Comparator.comparingLong(Run::started)).toList();
        for (int i = 1; i < runs.size(); i++) {
            // The one before had the lock no earlier than it called, and kept it for the minimum.
            assertThat(Duration.ofNanos(runs.get(i).started() - runs.get(i - 1).called()))
                    .as("%s after %s", runs.get(i), runs.get(i - 1))
                    .isGreaterThanOrEqualTo(MIN_HOLD.minus(ROUNDING));
        }
        Map<Long, Run> byTick = new HashMap<>();
        int excused = 0;
        for (Run run : runs) {
            Run other = byTick.put(run.tick(), run);
            if (other != null) {
                // An instance that this machine stops for longer than the minimum, less the skew, is not covered by it.
                assertThat(run.late())
                        .as("twice for one tick: %s and %s", other, run)
                        .isGreaterThan(MIN_HOLD.minus(SKEW).minus(ROUNDING));
                excused++;
            }
        }
        System.out.println(byTick.size() + " ticks, " + runs.size() + " runs; " + excused
                + " ran twice since this machine had stopped an instance for longer than the minimum");
    }

    @Test
    @Timeout(120)
    void runsOnceForEachTick() throws Exception {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            schedule(20, 7, "lockstep.url=redis://127.0.0.1:" + redis.port());
        }
    }

    @Tag("full")
    @Test
    @Timeout(300)
    void runsOnceForEachOfAThousandTicksOnRedis() throws Exception {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            schedule(1_000, 50, "lockstep.url=redis://127.0.0.1:" + redis.port());
        }
    }

    @Tag("full")
    @Test
    @Timeout(300)
    void runsOnceForEachOfAThousandTicksOnPostgres() throws Exception {
        try (PostgresServer postgres =
                Servers.require(() -> PostgresServer.builder().start())) {
            schedule(
                    1_000,
                    50,
                    "lockstep.url=" + postgres.jdbcUrl() + "?user=" + SqlServer.USER
                            + "&password=lock%26step&lockstep.createSchema=true");
        }
    }

    /** The annotations together, as the guide shows them; the minimum is longer than any test. */
    static class Annotated {
        final AtomicInteger runs = new AtomicInteger();

        @Scheduled(fixedRate = 5)
        @Locked(name = "report", onBusy = OnBusy.SKIP, minHold = "1h")
        public void report() {
            runs.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration(LockstepAutoConfiguration.class)
    static class AnnotatedApplication {
        @Bean
        AtomicInteger ticks() {
            return new AtomicInteger();
        }

        @Bean
        ThreadPoolTaskScheduler taskScheduler(AtomicInteger ticks) { // as Spring Boot makes it: it stops before beans
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
            scheduler.setTaskDecorator(task -> () -> {
                task.run();
                ticks.incrementAndGet();
            });
            return scheduler;
        }

        @Bean
        Annotated annotated() {
            return new Annotated();
        }
    }

    @Test
    @Timeout(60)
    void aScheduledMethodTakesItsLock() {
        try (ConfigurableApplicationContext one = startAnnotated();
                ConfigurableApplicationContext two = startAnnotated()) {
            await().atMost(Duration.ofSeconds(50)).until(() -> ticks(one) > 3 && ticks(two) > 3);
            assertThat(runs(one) + runs(two)).isEqualTo(1);
        }
    }

    private static int ticks(ConfigurableApplicationContext context) {
        return context.getBean(AtomicInteger.class).get();
    }

    private static ConfigurableApplicationContext startAnnotated() {
        return new SpringApplicationBuilder(AnnotatedApplication.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties("lockstep.url=memory:scheduled", "spring.main.banner-mode=off")
                .run();
    }

    private static int runs(ConfigurableApplicationContext context) {
        return ManualTest.target(context.getBean(Annotated.class)).runs.get();
    }
}
