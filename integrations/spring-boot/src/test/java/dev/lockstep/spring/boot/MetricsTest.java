package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.micrometer.LockGrouping;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The meters of an application. */
class MetricsTest {
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    MetricsAutoConfiguration.class,
                    CompositeMeterRegistryAutoConfiguration.class,
                    SimpleMetricsExportAutoConfiguration.class,
                    LockstepAutoConfiguration.class,
                    LockstepMetricsAutoConfiguration.class))
            .withPropertyValues("lockstep.url=memory:", "lockstep.clients.reports.url=memory:");

    @Test
    void groupIsTheConstantNameOfTheAnnotation() {
        runner.withBean(Shop.class).run(context -> {
            context.getBean(Shop.class).ship(7);
            context.getBean("reports", LockClient.class).lock("a:b").acquire().close();
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(registry.get("lockstep.lock.hold")
                            .tags("client", "lockClient", "engine", "memory", "mode", "exclusive", "group", "order")
                            .timer()
                            .count())
                    .isOne();
            assertThat(registry.get("lockstep.lock.hold")
                            .tags("client", "reports", "group", "a")
                            .timer()
                            .count())
                    .isOne();
        });
    }

    @Test
    void applicationGroupsItsLocks() {
        runner.withBean(LockGrouping.class, () -> name -> "mine").run(context -> {
            context.getBean("lockClient", LockClient.class)
                    .lock("a:b")
                    .acquire()
                    .close();
            assertThat(context.getBean(MeterRegistry.class)
                            .get("lockstep.lock.hold")
                            .tags("group", "mine")
                            .timer()
                            .count())
                    .isOne();
        });
    }

    @Test
    void nothingIsNeededWithoutMeters() {
        runner.withClassLoader(new FilteredClassLoader(MeterRegistry.class, SimpleMeterRegistry.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("lockMetrics"));
        runner.withPropertyValues("management.metrics.enable.lockstep=false").run(context -> {
            context.getBean("lockClient", LockClient.class)
                    .lock("a:b")
                    .acquire()
                    .close();
            assertThat(context.getBean(MeterRegistry.class)
                            .find("lockstep.lock.hold")
                            .timers())
                    .allSatisfy(timer -> assertThat(timer.count()).isZero());
        });
    }
}
