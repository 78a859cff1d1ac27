package dev.lockstep.boot.service;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostAfterWorkException;
import dev.lockstep.annotation.Locked;
import dev.lockstep.spring.EnableLocks;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

/** Tries locked methods again with the {@code @Retryable} of Spring 7, against which a test compiles it. */
@Configuration(proxyBeanMethods = false)
@EnableLocks
@EnableResilientMethods
@Import(Retries.Shop.class)
public class Retries {
    /** Methods whose first tries fail, or lose their lock. */
    static class Shop {
        private final LockClient locks;
        private final List<Long> tokens = new ArrayList<>();
        private int sent;

        Shop(LockClient locks) {
            this.locks = locks;
        }

        @Retryable(maxRetries = 2, delay = 1)
        @Locked(name = "order")
        public String ship(Lease lease) {
            tokens.add(lease.token());
            if (tokens.size() < 3) {
                throw new IllegalStateException("not yet");
            }
            return "shipped";
        }

        @Retryable(maxRetries = 2, delay = 1, excludes = LockLostAfterWorkException.class)
        @Locked(name = "mail")
        public String send() {
            sent++;
            locks.forceRelease("mail");
            return "sent";
        }

        String report() {
            return tokens.size() + " tries under " + new HashSet<>(tokens).size() + " leases, sent " + sent;
        }
    }

    @Bean
    LockClient lockClient() {
        return LockClient.connect("memory:");
    }

    /** Starts the application. */
    public static void main(String[] arguments) {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Retries.class)) {
            Shop shop = context.getBean(Shop.class);
            shop.ship(null);
            String lost = "nothing";
            try {
                shop.send();
            } catch (LockLostAfterWorkException e) {
                lost = "LockLostAfterWorkException with " + e.result();
            }
            System.out.println("RETRIES " + shop.report() + ", then " + lost);
        }
    }
}
