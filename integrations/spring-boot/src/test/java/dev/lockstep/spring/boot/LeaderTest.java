package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Leader;
import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.spring.LeaderCandidate;
import dev.lockstep.spring.LeaderGranted;
import dev.lockstep.spring.LeaderRevoked;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

/** Two instances of a service are candidates of an election. */
@Timeout(120)
class LeaderTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** The events of both instances, in order. */
    private static final Queue<String> events = new ConcurrentLinkedQueue<>();

    static class Scheduler {
        private final LockClient locks;
        private volatile long term;

        Scheduler(LockClient locks) {
            this.locks = locks;
        }

        // tag::spring-leader
        @EventListener
        void lead(LeaderGranted granted) { // of lockstep.elections=scheduler
            begin(granted.term().token());
        }

        @EventListener
        void follow(LeaderRevoked revoked) {
            end();
        }
        // end::spring-leader

        private void begin(long token) {
            term = token;
            events.add(locks.name() + " leads");
        }

        private void end() {
            term = 0;
            events.add(locks.name() + " ends");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockstepAutoConfiguration.class)
    @Import(Scheduler.class)
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockstepAutoConfiguration.class)
    static class ApplicationWithPayload {
        @Bean
        LeaderCandidate scheduler(LockClient locks, ApplicationEventPublisher events) {
            return new LeaderCandidate(locks, "scheduler", events).withPayload("10.0.0.7:8080");
        }
    }

    private static ConfigurableApplicationContext start(String name, RedisServer redis) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties(
                        "spring.main.banner-mode=off",
                        "lockstep.url=redis://127.0.0.1:" + redis.port(),
                        "lockstep.client-name=" + name,
                        "lockstep.elections=scheduler")
                .run();
    }

    @Test
    void oneInstanceLeadsAndTheOtherFollowsIt() {
        events.clear();
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            ConfigurableApplicationContext one = start("one", redis);
            LeaderCandidate first = one.getBean("schedulerLeaderCandidate", LeaderCandidate.class);
            await().atMost(PATIENCE).until(first::isLeader);
            await().atMost(PATIENCE).until(() -> one.getBean(Scheduler.class).term > 0);
            long term = one.getBean(Scheduler.class).term;
            try (ConfigurableApplicationContext two = start("two", redis)) {
                LeaderCandidate second = two.getBean(LeaderCandidate.class);
                assertThat(second.isLeader()).isFalse();
                assertThat(two.getBean(LockClient.class).leader("scheduler")).isPresent();
                one.close(); // its listeners end before the other one leads
                assertThat(first.isLeader()).isFalse();
                await().atMost(PATIENCE).until(() -> two.getBean(Scheduler.class).term > term);
                assertThat(second.isLeader()).isTrue();
                assertThat(List.copyOf(events)).containsExactly("one leads", "one ends", "two leads");
                // The only candidate leads again.
                assertThat(second.resign()).isTrue();
                await().atMost(PATIENCE)
                        .until(() -> List.copyOf(events)
                                .equals(List.of("one leads", "one ends", "two leads", "two ends", "two leads")));
            }
            assertThat(List.copyOf(events)).endsWith("two ends");
        }
    }

    @Test
    void othersSeeThePayloadOfACandidateThatLeads() {
        try (ConfigurableApplicationContext one = new SpringApplicationBuilder(ApplicationWithPayload.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .properties("spring.main.banner-mode=off", "lockstep.url=memory:")
                .run()) {
            LeaderCandidate candidate = one.getBean(LeaderCandidate.class);
            assertThat(candidate.election()).isEqualTo("scheduler");
            await().atMost(PATIENCE).until(candidate::isLeader);
            assertThat(one.getBean(LockClient.class).leader("scheduler"))
                    .map(Leader::payload)
                    .contains("10.0.0.7:8080");
        }
    }

    @Test
    void aLostTermIsRevoked() {
        events.clear();
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start());
                ConfigurableApplicationContext one = start("one", redis)) {
            await().atMost(PATIENCE).until(() -> one.getBean(Scheduler.class).term > 0);
            one.getBean(LockClient.class).forceRelease("scheduler");
            await().atMost(PATIENCE).until(() -> events.size() >= 3);
            assertThat(List.copyOf(events)).startsWith("one leads", "one ends", "one leads");
        }
    }
}
