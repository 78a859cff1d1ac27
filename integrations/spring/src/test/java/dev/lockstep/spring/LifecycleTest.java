package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Beans, clients and the order in which they end. */
@Timeout(60)
class LifecycleTest {
    private static final List<String> events = new ArrayList<>();

    static class Inner {
        @Locked(name = "end")
        public String run() {
            return "under its lock";
        }
    }

    /** Uses a locked bean when it ends, and knows no client. */
    static class Outer implements DisposableBean {
        private final Inner inner;

        Outer(Inner inner) {
            this.inner = inner;
        }

        @Override
        public void destroy() {
            events.add(inner.run());
        }
    }

    @Test
    void aClientIsClosedAfterTheBeansWithLockedMethods() {
        events.clear();
        // The client is made last, so it would be closed first.
        AnnotationConfigApplicationContext context = Contexts.start(Inner.class, Outer.class, Contexts.OneClient.class);
        context.close();
        assertThat(events).containsExactly("under its lock");
    }

    /** An executor that waits for its jobs when the application stops. */
    @Configuration(proxyBeanMethods = false)
    static class Jobs {
        @Bean
        ThreadPoolTaskExecutor executor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setWaitForTasksToCompleteOnShutdown(true);
            executor.setAwaitTerminationSeconds(30);
            return executor;
        }
    }

    static class Job {
        /** Works until the application stops. */
        @Locked(name = "job")
        public void run(CountDownLatch begun, ThreadPoolTaskExecutor executor, @Nullable Lease lease) {
            begun.countDown();
            while (!executor.getThreadPoolExecutor().isShutdown()
                    && Objects.requireNonNull(lease).isValid()) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    @Test
    void aClientIsClosedAfterTheExecutorsThatRunJobs() throws Exception {
        // The client is made last, so it would be closed first.
        AnnotationConfigApplicationContext context = Contexts.start(Jobs.class, Job.class, Contexts.OneClient.class);
        Job job = context.getBean(Job.class);
        ThreadPoolTaskExecutor executor = context.getBean(ThreadPoolTaskExecutor.class);
        CountDownLatch begun = new CountDownLatch(1);
        Future<?> running = executor.submit(() -> job.run(begun, executor, null));
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        context.close();
        assertThatCode(() -> running.get(20, TimeUnit.SECONDS)).doesNotThrowAnyException();
    }

    /** Records whether it ends before a client is closed. */
    static class Watched extends ThreadPoolTaskExecutor {
        private static final long serialVersionUID = 1L;

        transient @Nullable LockClient client;

        @Override
        public void shutdown() {
            try {
                Objects.requireNonNull(client).inspect("a");
                events.add("executor ends before its client");
            } catch (IllegalStateException e) {
                events.add("executor ends after its client");
            }
            super.shutdown();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class ClientOnAnExecutor {
        @Bean
        Watched executor() {
            return new Watched();
        }

        @Bean
        LockClient locks(Watched executor) {
            LockClient client =
                    LockClient.builder().url("memory:").executor(executor).connect();
            executor.client = client;
            return client;
        }
    }

    @Test
    void anExecutorThatAClientNeedsEndsAfterIt() {
        events.clear();
        Contexts.start(ClientOnAnExecutor.class).close();
        assertThat(events).containsExactly("executor ends after its client");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableLocks
    static class TwoClients {
        @Bean
        LockClient first() {
            return LockClient.connect("memory:");
        }

        @Bean
        @Qualifier("other")
        LockClient second() {
            return LockClient.connect("memory:");
        }
    }

    static class Work {
        @Locked(name = "a", client = "first")
        public List<String> first(LockClient first, LockClient second) {
            return List.of(LockedTest.held(first), LockedTest.held(second));
        }

        @Locked(name = "a", client = "other")
        public List<String> second(LockClient first, LockClient second) {
            return List.of(LockedTest.held(first), LockedTest.held(second));
        }
    }

    @Test
    void aMethodNamesItsClient() {
        try (AnnotationConfigApplicationContext context = Contexts.start(TwoClients.class, Work.class)) {
            Work work = context.getBean(Work.class);
            LockClient first = context.getBean("first", LockClient.class);
            LockClient second = context.getBean("second", LockClient.class);
            assertThat(work.first(first, second)).containsExactly("a", "");
            assertThat(work.second(first, second)).containsExactly("", "a");
        }
    }
}
