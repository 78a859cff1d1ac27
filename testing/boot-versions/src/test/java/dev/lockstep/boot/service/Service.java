package dev.lockstep.boot.service;

import dev.lockstep.LockClient;
import dev.lockstep.LockTemplate;
import dev.lockstep.annotation.Locked;
import dev.lockstep.spring.boot.LocksEndpoint;
import dev.lockstep.spring.integration.LockstepLockRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** A small service that uses what the starter gives, reports it, and ends. Runs on every supported version of Spring Boot. */
@SpringBootApplication
public class Service {
    /** Sells. */
    static class Shop {
        private final JdbcTemplate jdbc;
        private final LockClient locks;

        Shop(JdbcTemplate jdbc, LockClient locks) {
            this.jdbc = jdbc;
            this.locks = locks;
        }

        @Locked(name = "stock", key = "#item")
        @Transactional
        public String sell(String item) {
            Integer one = jdbc.queryForObject("select 1", Integer.class);
            return one + " " + locks.list("").get(0).name();
        }
    }

    @Bean
    Shop shop(JdbcTemplate jdbc, LockClient locks) {
        return new Shop(jdbc, locks);
    }

    /** Lets Spring Integration elect a leader, in whatever version Boot brings. */
    private static String lead(LockClient locks) throws InterruptedException {
        CountDownLatch elected = new CountDownLatch(1);
        LockRegistryLeaderInitiator initiator =
                new LockRegistryLeaderInitiator(new LockstepLockRegistry(locks), new DefaultCandidate("one", "leader") {
                    @Override
                    public void onGranted(Context context) {
                        elected.countDown();
                    }
                });
        initiator.start();
        try {
            return elected.await(30, TimeUnit.SECONDS)
                    ? locks.list("leader").get(0).name()
                    : "nobody";
        } finally {
            initiator.stop();
        }
    }

    /** Starts the service. */
    public static void main(String[] arguments) throws Exception {
        try (ConfigurableApplicationContext context = SpringApplication.run(Service.class, arguments)) {
            LockClient locks = context.getBean(LockClient.class);
            String sold = context.getBean(Shop.class).sell("phone");
            String template = context.getBean(LockTemplate.class).execute("a", lease -> "template");
            Object indicator = context.getBean("locksHealthIndicator");
            Method check = indicator.getClass().getMethod("health");
            check.setAccessible(true);
            int listed = context.getBean(LocksEndpoint.class).locks().size();
            long metered = context.getBean(MeterRegistry.class)
                    .get("lockstep.lock.hold")
                    .tag("group", "stock")
                    .timer()
                    .count();
            // Boot's metrics make a timer of each observation.
            long observed = context.getBean(MeterRegistry.class)
                    .get("lockstep.locked")
                    .tag("group", "stock")
                    .timer()
                    .count();
            System.out.println("RESULT " + sold + " | " + template + " | " + check.invoke(indicator) + " | " + listed
                    + " | metered " + metered + " | observed " + observed + " | " + lead(locks) + " | "
                    + locks.describe().product());
        }
    }
}
