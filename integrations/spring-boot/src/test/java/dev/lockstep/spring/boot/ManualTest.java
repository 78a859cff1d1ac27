package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import dev.lockstep.annotation.Locked.OnBusy;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;

/** The code and the properties of docs/spring.md. */
class ManualTest {
    /** The value that callers pass for a lease. */
    @SuppressWarnings("NullAway")
    private static final Lease NO_LEASE = null;

    record Order(long id) {}

    /** Where orders are kept; the token is checked there. */
    interface Orders {
        void ship(long id, long token);
    }

    static class Shop {
        private final LockClient locks;
        String seen = "";

        Shop(LockClient locks) {
            this.locks = locks;
        }

        // tag::spring-locked
        @Locked(name = "order", key = "#order.id") // locks order:42, in all processes
        @Transactional // begins after the lock is acquired, and ends before it is released
        public void ship(Order order) {
            send(order);
        }
        // end::spring-locked

        private void send(Order order) {
            seen = held(locks) + order.id();
        }

        private static String held(LockClient locks) {
            return locks.list("").stream()
                    .map(info -> info.name() + " ")
                    .findFirst()
                    .orElse("");
        }
    }

    static class Recipes {
        private final Orders orders;
        int reports;

        Recipes(Orders orders) {
            this.orders = orders;
        }

        // tag::spring-token
        @Locked(name = "order", key = "#id", fenced = true)
        public void ship(long id, Lease lease) { // callers pass null
            orders.ship(id, lease.token()); // storage refuses a token older than it has seen
        }
        // end::spring-token

        // tag::spring-several
        @Locked(
                name = "account",
                key = {"#from", "#to"},
                waitAtMost = "5s")
        public void transfer(String from, String to) {
            move(from, to);
        }
        // end::spring-several

        private static void move(String from, String to) {
            assertThat(from).isNotEqualTo(to);
        }

        // tag::spring-skip
        @Scheduled(cron = "0 0 3 * * *") // in every instance
        @Locked(name = "report", onBusy = OnBusy.SKIP, minHold = "30s") // and only one of them does it
        public void report() {
            writeReport();
        }
        // end::spring-skip

        private void writeReport() {
            reports++;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Customized {
        // tag::spring-customizer
        @Bean
        LockClientCustomizer leaks() {
            return (beanName, builder) -> builder.leakDetection(Duration.ofMinutes(5));
        }
        // end::spring-customizer
    }

    @Test
    void theCodeWorks() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockstepAutoConfiguration.class))
                .withUserConfiguration(Customized.class)
                .withBean(Shop.class)
                .withBean(Orders.class, () -> (id, token) -> assertThat(token).isPositive())
                .withBean(Recipes.class)
                .run(context -> {
                    Shop shop = context.getBean(Shop.class);
                    shop.ship(new Order(42));
                    assertThat(target(shop).seen).isEqualTo("order:42 42");
                    Recipes recipes = context.getBean(Recipes.class);
                    recipes.ship(42, NO_LEASE);
                    recipes.transfer("a", "b");
                    try (Lease other = context.getBean(LockClient.class)
                            .lock("report")
                            .acquireAsync()
                            .get()) {
                        recipes.report();
                        assertThat(other.isValid()).isTrue();
                    }
                    recipes.report();
                    assertThat(target(recipes).reports).isEqualTo(1);
                });
    }

    @SuppressWarnings("unchecked")
    static <T> T target(T proxy) {
        return (T) Objects.requireNonNull(AopProxyUtils.getSingletonTarget(proxy));
    }

    @Test
    void everyPropertyIsOnThePage() throws Exception {
        Set<String> described = new TreeSet<>();
        try (InputStream in = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            String json = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            Matcher name = Pattern.compile("\"name\": \"(lockstep\\.[^\"]+)\"")
                    .matcher(json.substring(json.indexOf("\"properties\"")));
            while (name.find()) {
                described.add(name.group(1));
            }
        }
        Set<String> shown = new TreeSet<>();
        Matcher row = Pattern.compile("(?m)^\\| `(lockstep\\.[\\w.-]+)(?:\\.NAME\\.…)?` \\|")
                .matcher(Files.readString(Path.of("../../docs/spring.md")));
        while (row.find()) {
            shown.add(row.group(1));
        }
        assertThat(shown).isEqualTo(described);
    }
}
