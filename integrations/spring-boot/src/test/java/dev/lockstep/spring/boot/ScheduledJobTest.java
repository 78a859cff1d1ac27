package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lockstep.LockClient;
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
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * A job of 1 ms in two instances whose clocks differ, on a schedule that is scaled down, while the instances are restarted one
 * after the other: it runs once for each tick, and no call fails.
 */
class ScheduledJobTest {
    private static final Duration PERIOD = Duration.ofMillis(80);
    private static final Duration MIN_HOLD = Duration.ofMillis(55);
    private static final Duration SKEW = Duration.ofMillis(20);

    /** Locks end by the engine's clock, in whole milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(2);

    /** So many that a pause of the machine for some of them does not matter. */
    private static final int MANY_TICKS = 200;

    /**
     * An instance called the job at a tick.
     *
     * @param tick which one
     * @param called when, by {@code System.nanoTime()}
     * @param started when the method began to run; as {@code called} if it did not
     * @param returned when the call returned or threw
     * @param late how long after the tick the method began to run, by the instance's own clock
     * @param ran whether it did
     * @param failed whether the call threw
     */
    record Call(long tick, long called, long started, long returned, Duration late, boolean ran, boolean failed) {
        boolean isSkipped() {
            return !ran && !failed;
        }

        /** Until when the lock may be busy because of this call, if nothing is late. */
        private long busyUntil() {
            return isSkipped() ? returned : returned + MIN_HOLD.plus(ROUNDING).toNanos();
        }

        /** Whether another call may have found the lock busy because of this one. */
        boolean excuses(Call other) {
            return called <= other.returned && other.called <= busyUntil();
        }
    }

    /** The schedule of an instance: like cron, ticks are at whole multiples of the period, by the instance's clock. */
    static class Ticks {
        private final Clock clock;
        private Instant planned = Instant.EPOCH;
        private boolean ran;
        private long started;
        private Duration late = Duration.ZERO;

        Ticks(Clock clock) {
            this.clock = clock;
        }

        Instant next() {
            long period = PERIOD.toMillis();
            long last = Math.max(clock.millis(), planned.toEpochMilli());
            planned = Instant.ofEpochMilli((last / period + 1) * period);
            return planned;
        }

        /** The method begins to run. */
        void run() {
            ran = true;
            started = System.nanoTime();
            late = Duration.between(planned, clock.instant());
        }

        Call call(Runnable job) {
            long tick = planned.toEpochMilli() / PERIOD.toMillis();
            ran = false;
            long called = System.nanoTime();
            started = called;
            boolean failed = true;
            try {
                job.run();
                failed = false;
            } catch (RuntimeException e) {
                e.printStackTrace(); // the test fails in the end
            }
            return new Call(tick, called, started, System.nanoTime(), late, ran, failed);
        }
    }

    /** The job. */
    static class Report {
        private final Ticks ticks;

        Report(Ticks ticks) {
            this.ticks = ticks;
        }

        @Scheduled(cron = "* * * * * *")
        @Locked(name = "report", onBusy = OnBusy.SKIP, minHold = "${report.min-hold}")
        public void run() throws InterruptedException {
            ticks.run();
            Thread.sleep(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration(LockstepAutoConfiguration.class)
    static class Application {
        /**
         * Runs what is planned for each second at each tick instead. When the application stops, it waits for a job that runs, as
         * that of Spring Boot does with {@code spring.task.scheduling.shutdown.await-termination=true}.
         */
        @Bean
        ThreadPoolTaskScheduler taskScheduler(Clock clock, Ticks ticks, Queue<Call> calls) {
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler() {
                private static final long serialVersionUID = 1L;

                @Override
                public @Nullable ScheduledFuture<?> schedule(Runnable job, Trigger everySecond) {
                    return super.schedule(() -> calls.add(ticks.call(job)), last -> ticks.next());
                }
            };
            scheduler.setClock(clock);
            scheduler.setWaitForTasksToCompleteOnShutdown(true);
            scheduler.setAwaitTerminationSeconds(60);
            return scheduler;
        }

        @Bean
        Ticks ticks(Clock clock) {
            return new Ticks(clock);
        }

        @Bean
        Report report(Ticks ticks) {
            return new Report(ticks);
        }
    }

    private static ConfigurableApplicationContext start(Duration skew, Queue<Call> calls, String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties("report.min-hold=" + MIN_HOLD.toMillis() + "ms", "spring.main.banner-mode=off")
                .properties(properties)
                .initializers(context -> {
                    context.getBeanFactory().registerSingleton("clock", Clock.offset(Clock.systemUTC(), skew));
                    context.getBeanFactory().registerSingleton("calls", calls);
                })
                .run();
    }

    /** Runs two instances until there were runs for some ticks, and restarts one of them every now and then. */
    private static void schedule(int ticks, int ticksBetweenRestarts, String... properties) {
        Queue<Call> calls = new ConcurrentLinkedQueue<>();
        List<ConfigurableApplicationContext> instances = new ArrayList<>();
        try {
            instances.add(start(Duration.ZERO, calls, properties));
            instances.add(start(SKEW, calls, properties));
            for (int tick = ticksBetweenRestarts; tick < ticks; tick += ticksBetweenRestarts) {
                awaitTicks(calls, tick);
                int oldest = tick / ticksBetweenRestarts % 2;
                instances.get(oldest).close();
                instances.set(oldest, start(oldest == 0 ? Duration.ZERO : SKEW, calls, properties));
            }
            awaitTicks(calls, ticks);
        } finally {
            instances.forEach(ConfigurableApplicationContext::close);
        }
        verify(List.copyOf(calls));
    }

    /** However long a busy machine takes; the test's own time limit ends it. */
    private static void awaitTicks(Queue<Call> calls, int ticks) {
        await().pollInterval(PERIOD)
                .atMost(Duration.ofMinutes(10))
                .until(() -> calls.stream()
                                .filter(Call::ran)
                                .mapToLong(Call::tick)
                                .distinct()
                                .count()
                        >= ticks);
    }

    private static void verify(List<Call> calls) {
        assertThat(calls).as("calls that failed").noneMatch(Call::failed);
        List<Call> runs = calls.stream()
                .filter(Call::ran)
                .sorted(Comparator.comparingLong(Call::started))
                .toList();
        for (int i = 1; i < runs.size(); i++) {
            // The one before had the lock no earlier than it called, and kept it for the minimum.
            assertThat(Duration.ofNanos(runs.get(i).started() - runs.get(i - 1).called()))
                    .as("%s after %s", runs.get(i), runs.get(i - 1))
                    .isGreaterThanOrEqualTo(MIN_HOLD.minus(ROUNDING));
        }
        Map<Long, Call> byTick = new HashMap<>();
        int excused = 0;
        for (Call run : runs) {
            Call other = byTick.put(run.tick(), run);
            if (other != null) {
                // An instance that this machine stops for longer than the minimum, less the skew, is not covered by it.
                assertThat(run.late())
                        .as("twice for one tick: %s and %s", other, run)
                        .isGreaterThan(MIN_HOLD.minus(SKEW).minus(ROUNDING));
                excused++;
            }
        }
        Set<Long> missed = missed(calls, byTick.keySet());
        if (byTick.size() >= MANY_TICKS) {
            assertThat(missed)
                    .as(
                            "ticks without a run, beside %s with one, though an instance called when the lock should have been free",
                            byTick.size())
                    .hasSizeLessThan((byTick.size() + missed.size()) / 4);
        }
        System.out.println(byTick.size() + " ticks, " + runs.size() + " runs; " + excused
                + " ran twice since this machine had stopped an instance for longer than the minimum; "
                + withoutRun(calls, byTick.keySet(), missed));
    }

    /** The ticks from the first to the last that had no run, and why. */
    private static String withoutRun(List<Call> calls, Set<Long> ran, Set<Long> missed) {
        Set<Long> called = calls.stream().map(Call::tick).collect(Collectors.toSet());
        long uncalled = 0;
        long excused = 0;
        for (long tick = Collections.min(ran); tick < Collections.max(ran); tick++) {
            uncalled += called.contains(tick) ? 0 : 1;
            excused += called.contains(tick) && !ran.contains(tick) && !missed.contains(tick) ? 1 : 0;
        }
        return "without a run: " + uncalled + " for which this machine was too slow to call, " + excused
                + " for which the calls met that of another tick, and " + missed.size()
                + " for which the lock was released late";
    }

    /**
     * The ticks for which no instance ran the job, although one called when no other call was a reason for the lock to be busy.
     * If a hold lasted until the next tick, these would be a third to a half of all ticks. Some are missed on a busy machine, since
     * the client's timer, which releases the lock after its minimum, is late: three in a hundred at a load of 15.
     */
    private static Set<Long> missed(List<Call> calls, Set<Long> ran) {
        return calls.stream()
                .filter(call -> call.isSkipped() && !ran.contains(call.tick()))
                .filter(call -> calls.stream().noneMatch(other -> other != call && other.excuses(call)))
                .map(Call::tick)
                .collect(Collectors.toSet());
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

    /** What a job knows of the application's end, and what it sees then. */
    static class Stop {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch stopping = new CountDownLatch(1);
        final AtomicReference<String> holders = new AtomicReference<>("nothing");

        @EventListener
        void stopping(ContextClosedEvent event) {
            stopping.countDown();
        }
    }

    /** A job that goes on for a moment after the application has begun to stop. */
    static class LongJob {
        private final Stop stop;
        private final LockClient other;

        LongJob(Stop stop, LockClient other) {
            this.stop = stop;
            this.other = other;
        }

        @Scheduled(fixedRate = 5)
        @Locked(name = "long", onBusy = OnBusy.SKIP)
        public void run() throws InterruptedException {
            stop.begun.countDown();
            stop.stopping.await();
            Thread.sleep(
                    300); // in which the client would be closed; if the machine is too slow for that, nothing is shown
            stop.holders.set(other.inspect("long").holders().stream()
                    .map(entry -> entry.holder().client())
                    .collect(Collectors.joining()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration({LockstepAutoConfiguration.class, TaskSchedulingAutoConfiguration.class})
    static class LongJobApplication {}

    @ParameterizedTest
    @Timeout(60)
    @ValueSource(booleans = {false, true})
    void aJobThatRunsWhenTheApplicationStopsEndsUnderItsLock(boolean awaitTermination) throws Exception {
        Stop stop = new Stop();
        try (LockClient other = LockClient.connect("memory:stopped");
                ConfigurableApplicationContext context = new SpringApplicationBuilder(LongJobApplication.class)
                        .web(WebApplicationType.NONE)
                        .logStartupInfo(false)
                        .properties(
                                "lockstep.url=memory:stopped",
                                "lockstep.client-name=service",
                                "spring.task.scheduling.shutdown.await-termination=" + awaitTermination,
                                "spring.task.scheduling.shutdown.await-termination-period=50s",
                                "spring.main.banner-mode=off")
                        .initializers(made -> {
                            GenericApplicationContext beans = (GenericApplicationContext) made;
                            beans.registerBean("stop", Stop.class, () -> stop);
                            beans.registerBean("longJob", LongJob.class, () -> new LongJob(stop, other));
                        })
                        .run()) {
            assertThat(stop.begun.await(20, TimeUnit.SECONDS)).isTrue();
            context.close();
            assertThat(stop.holders).hasValue("service");
        }
    }
}
