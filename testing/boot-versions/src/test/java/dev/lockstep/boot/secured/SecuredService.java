package dev.lockstep.boot.secured;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/**
 * A service with a web server and Spring Security that shows its console and its locks under the actuator, reports what they
 * answer to whom, and ends. In the profile {@code ruled} it has the rules of the guide, and otherwise those of Spring Boot.
 */
@SpringBootApplication(proxyBeanMethods = false)
public class SecuredService {
    @Bean
    @Profile("ruled")
    SecurityFilterChain actuator(HttpSecurity http) throws Exception {
        return http.securityMatcher("/actuator/**")
                .authorizeHttpRequests(requests -> {
                    requests.requestMatchers(HttpMethod.GET).hasRole("VIEWER");
                    requests.anyRequest().hasRole("OPERATOR");
                })
                .csrf(csrf -> csrf.ignoringRequestMatchers("/actuator/lockconsole/**", "/actuator/locks/**"))
                .httpBasic(Customizer.withDefaults())
                .build();
    }

    @Bean
    UserDetailsService users() {
        return new InMemoryUserDetailsManager(
                User.withUsername("viewer")
                        .password("{noop}secret")
                        .roles("VIEWER")
                        .build(),
                User.withUsername("operator")
                        .password("{noop}secret")
                        .roles("VIEWER", "OPERATOR")
                        .build());
    }

    /** Starts the service. */
    public static void main(String[] arguments) throws Exception {
        try (ConfigurableApplicationContext context = SpringApplication.run(SecuredService.class, arguments)) {
            URI actuator = URI.create(
                    "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + "/actuator/");
            LockClient locks = context.getBean(LockClient.class);
            Lease lease = locks.lock("order:42").acquire();
            String body = "{\"namespace\":\"lockstep\",\"name\":\"order:42\",\"confirmation\":\"order:42\","
                    + "\"reason\":\"stuck\",\"token\":\"" + lease.token() + "\"}";
            for (String user : List.of("nobody", "viewer", "operator")) {
                StringBuilder answers = new StringBuilder();
                for (String path : List.of("lockconsole", "lockconsole/app.js", "lockconsole/api/now", "locks")) {
                    answers.append(' ').append(send(request(actuator, user, path)));
                }
                answers.append(" release ")
                        .append(send(request(actuator, user, "lockconsole/api/release")
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(body))))
                        .append(locks.inspect("order:42").isFree() ? " free" : " held")
                        .append(" delete ")
                        .append(send(request(actuator, user, "locks/order:42?token=" + lease.token())
                                .DELETE()));
                System.out.println("SECURED " + user + ":" + answers);
            }
        }
    }

    private static HttpRequest.Builder request(URI actuator, String user, String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(actuator.resolve(path));
        if (!user.equals("nobody")) {
            byte[] credentials = (user + ":secret").getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
        return request;
    }

    private static int send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }
}
