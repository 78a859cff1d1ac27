package dev.lockstep.spring.boot.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.LockTemplate;
import dev.lockstep.annotation.Locked;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A service with the starter and no configuration starts in a test, on memory. */
@SpringBootTest
class StarterTest {
    static class Shop {
        private final LockClient locks;

        Shop(LockClient locks) {
            this.locks = locks;
        }

        @Locked(name = "order", key = "#number")
        public boolean ship(int number) {
            return !locks.inspect("order:" + number).isFree();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Shop.class)
    static class Service {}

    @Autowired
    private Shop shop;

    @Autowired
    private LockClient locks;

    @Autowired
    private LockTemplate template;

    @Test
    void itHasLocks() throws Exception {
        assertThat(shop.ship(42)).isTrue();
        boolean free = template.execute("a", lease -> locks.inspect("a").isFree());
        assertThat(free).isFalse();
        assertThat(locks.describe().product()).containsIgnoringCase("memory");
    }
}
