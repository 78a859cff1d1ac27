package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.annotation.Locked;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.RetryConfiguration;
import org.springframework.retry.annotation.Retryable;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;

/** A lock beside method security and retries, in the default order. */
class OtherAdviceTest {
    @Configuration
    @EnableMethodSecurity
    @Import(RetryConfiguration.class) // as @EnableRetry does, which needs AspectJ besides
    static class Both {
        @Bean
        Service service(LockClient locks) {
            return new Service(locks);
        }
    }

    static class Service {
        private final LockClient locks;
        final List<Boolean> held = new ArrayList<>();

        Service(LockClient locks) {
            this.locks = locks;
        }

        @Locked(name = "a", waitAtMost = "0s")
        @PreAuthorize("hasRole('SELLER')")
        public String sell() {
            return "sold";
        }

        @Locked(name = "a")
        @Retryable(maxAttempts = 3, backoff = @Backoff(delay = 1))
        public List<Boolean> unsteady() {
            held.add(!locks.inspect("a").isFree());
            if (held.size() < 3) {
                throw new IllegalStateException("again");
            }
            return held;
        }
    }

    @AfterEach
    void logOut() {
        SecurityContextHolder.clearContext();
    }

    private static void logIn(String role) {
        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("eve", "", role));
    }

    @Test
    void aCallThatIsNotAllowedTakesNoLock() throws Exception {
        try (AnnotationConfigApplicationContext context = Contexts.start(Contexts.OneClient.class, Both.class)) {
            Service service = context.getBean(Service.class);
            try (Lease other =
                    context.getBean(LockClient.class).lock("a").acquireAsync().get()) {
                logIn("ROLE_BUYER");
                assertThatThrownBy(service::sell).isInstanceOf(AccessDeniedException.class);
                logIn("ROLE_SELLER");
                assertThatThrownBy(service::sell).isInstanceOf(LockTimeoutException.class);
                assertThat(other.isValid()).isTrue();
            }
            assertThat(service.sell()).isEqualTo("sold");
        }
    }

    @Test
    void everyTryRunsUnderTheLock() {
        try (AnnotationConfigApplicationContext context = Contexts.start(Contexts.OneClient.class, Both.class)) {
            assertThat(context.getBean(Service.class).unsteady()).containsExactly(true, true, true);
            assertThat(context.getBean(LockClient.class).inspect("a").isFree()).isTrue();
        }
    }
}
