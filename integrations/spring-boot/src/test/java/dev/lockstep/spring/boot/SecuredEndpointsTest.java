package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.servers.Browser;
import dev.lockstep.servers.ChromeDriver;
import dev.lockstep.servers.Servers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.UserDetailsServiceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** The console and the endpoint {@code locks} behind Spring Security: by the rules of the guide, and by those of Spring Boot. */
@Timeout(120)
class SecuredEndpointsTest {
    private static final List<String> PATHS = List.of(
            "lockconsole",
            "lockconsole/",
            "lockconsole/app.js",
            "lockconsole/api/now",
            "lockconsole/api/lock?namespace=lockstep&name=order%3A42",
            "locks",
            "locks/order:42");
    private static final String JSON = "application/json";
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        LockstepActuatorAutoConfiguration.class,
        SecurityAutoConfiguration.class,
        UserDetailsServiceAutoConfiguration.class,
        SecurityFilterAutoConfiguration.class,
        ManagementWebSecurityAutoConfiguration.class
    })
    static class Usual extends ConsoleEndpointTest.Web {}

    @Configuration(proxyBeanMethods = false)
    static class Ruled extends Usual {
        // tag::console-security
        @Bean
        SecurityFilterChain actuator(HttpSecurity http) throws Exception {
            return http.securityMatcher("/actuator/**")
                    .authorizeHttpRequests(requests -> {
                        requests.requestMatchers(HttpMethod.GET).hasRole("VIEWER");
                        requests.anyRequest().hasRole("OPERATOR"); // releases by force
                    })
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/actuator/lockconsole/**", "/actuator/locks/**"))
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
        // end::console-security

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(Stream.of("guest", "viewer", "viewer,operator")
                    .map(roles -> User.withUsername(roles.replaceAll(".*,", ""))
                            .password("{noop}secret")
                            .roles(roles.toUpperCase(Locale.ROOT).split(","))
                            .build())
                    .toList())::loadUserByUsername; // alone, or the passwords would be stored as slow hashes
        }
    }

    private static ConfigurableApplicationContext ruled;
    private static ConfigurableApplicationContext usual;

    @BeforeAll
    static void start() {
        ruled = start(Ruled.class);
        usual = start(Usual.class, "--spring.security.user.name=operator", "--spring.security.user.password=secret");
    }

    private static ConfigurableApplicationContext start(Class<?> service, String... own) {
        String[] common = {
            "--server.port=0",
            "--spring.main.banner-mode=off",
            "--lockstep.url=memory:",
            "--lockstep.console.allow-release=true",
            "--lockstep.endpoint.force-release=true",
            "--management.endpoints.web.exposure.include=lockconsole,locks"
        };
        return SpringApplication.run(
                service,
                Stream.concat(Arrays.stream(common), Arrays.stream(own)).toArray(String[]::new));
    }

    @AfterAll
    static void stop() {
        ruled.close();
        usual.close();
    }

    private static String url(ConfigurableApplicationContext context) {
        return "http://127.0.0.1:"
                + Objects.requireNonNull(context.getEnvironment().getProperty("local.server.port")) + "/actuator/";
    }

    private static HttpRequest.Builder request(ConfigurableApplicationContext context, String user, String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url(context) + path));
        if (!user.isEmpty()) {
            byte[] credentials = (user + ":secret").getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
        return request;
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static int get(ConfigurableApplicationContext context, String user, String path) throws Exception {
        return send(request(context, user, path)).statusCode();
    }

    /** A lock that somebody holds, and two ways to release it by force. */
    private static final class Stuck {
        private final ConfigurableApplicationContext context;
        private final LockClient locks;
        private final long token;

        Stuck(ConfigurableApplicationContext context) {
            this.context = context;
            this.locks = context.getBean(LockClient.class);
            locks.forceRelease("order:42");
            token = locks.lock("order:42").acquireAsync().join().token();
        }

        String json() {
            return "{\"namespace\":\"lockstep\",\"name\":\"order:42\",\"confirmation\":\"order:42\",\"token\":\""
                    + token + "\",\"reason\":\"stuck\"}";
        }

        HttpResponse<String> post(String user, String type, String body) throws Exception {
            return send(request(context, user, "lockconsole/api/release")
                    .header("Content-Type", type)
                    .POST(HttpRequest.BodyPublishers.ofString(body)));
        }

        HttpResponse<String> delete(String user) throws Exception {
            return send(request(context, user, "locks/order:42?token=" + token).DELETE());
        }

        /** Both ways fail, and the lock stays held. */
        void refuses(String user, int status) throws Exception {
            assertThat(post(user, JSON, json()).statusCode()).isEqualTo(status);
            assertThat(delete(user).statusCode()).isEqualTo(status);
            assertThat(isFree()).isFalse();
        }

        boolean isFree() {
            return locks.inspect("order:42").isFree();
        }
    }

    @Test
    void nobodySeesOrReleasesAnythingWithoutCredentials() throws Exception {
        for (ConfigurableApplicationContext context : List.of(ruled, usual)) {
            for (String path : PATHS) {
                assertThat(get(context, "", path)).as(path).isEqualTo(401);
            }
            assertThat(get(context, "stranger", "lockconsole")).isEqualTo(401);
        }
        Stuck stuck = new Stuck(ruled);
        stuck.refuses("", 401);
        stuck.refuses("stranger", 401);
    }

    @Test
    void rolesSayWhoSeesAndWhoReleases() throws Exception {
        for (String path : PATHS) {
            assertThat(get(ruled, "guest", path)).as(path).isEqualTo(403);
            assertThat(get(ruled, "viewer", path)).as(path).isEqualTo(200);
            assertThat(get(ruled, "operator", path)).as(path).isEqualTo(200);
            assertThat(get(usual, "operator", path)).as(path).isEqualTo(200);
        }
        Stuck stuck = new Stuck(ruled);
        stuck.refuses("guest", 403);
        stuck.refuses("viewer", 403);
        assertThat(stuck.delete("operator").body()).isEqualTo("{\"lockClient\":true}");
        assertThat(stuck.isFree()).isTrue();
        Stuck again = new Stuck(ruled);
        assertThat(Logs.of(() -> assertThat(body(() -> again.post("operator", JSON, again.json())))
                        .isEqualTo("{\"released\":true}")))
                .contains("by='actuator endpoint, user operator'");
        assertThat(again.isFree()).isTrue();
    }

    private static String body(Callable<HttpResponse<String>> request) {
        try {
            return request.call().body();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A browser sends the operator's credentials with it, but only a form's kinds of content, or it asks first. */
    @Test
    void anotherSiteReleasesNothingThoughTheCsrfFilterIsOff() throws Exception {
        Stuck stuck = new Stuck(ruled);
        String form = "namespace=lockstep&name=order:42&confirmation=order:42&reason=stuck&token=" + stuck.token;
        assertThat(stuck.post("operator", "application/x-www-form-urlencoded", form)
                        .statusCode())
                .isEqualTo(415);
        assertThat(stuck.post("operator", "text/plain", stuck.json()).statusCode())
                .isEqualTo(415);
        assertThat(stuck.post("operator", "multipart/form-data; boundary=a", stuck.json())
                        .statusCode())
                .isEqualTo(415);
        assertThat(send(request(ruled, "operator", "locks/order:42?_method=DELETE&token=" + stuck.token)
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .POST(HttpRequest.BodyPublishers.ofString("_method=DELETE")))
                        .statusCode())
                .isEqualTo(405);
        for (String[] asked : new String[][] {{"lockconsole/api/release", "POST"}, {"locks/order:42", "DELETE"}}) {
            HttpResponse<String> preflight = send(HttpRequest.newBuilder(URI.create(url(ruled) + asked[0]))
                    .header("Origin", "http://other.example")
                    .header("Access-Control-Request-Method", asked[1])
                    .header("Access-Control-Request-Headers", "content-type")
                    .method("OPTIONS", HttpRequest.BodyPublishers.noBody()));
            assertThat(preflight.headers().firstValue("Access-Control-Allow-Origin"))
                    .isEmpty();
        }
        assertThat(stuck.isFree()).isFalse();
    }

    @Test
    void theCsrfFilterRefusesReleasesUnlessItIsOffForThem() throws Exception {
        new Stuck(usual).refuses("operator", 403);
    }

    @Test
    void pagesAreNotShownInFramesOfOtherSites() throws Exception {
        HttpResponse<String> page = send(request(ruled, "viewer", "lockconsole"));
        assertThat(page.headers().firstValue("X-Frame-Options")).hasValue("DENY");
        assertThat(page.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
    }

    /** Spring Boot's own rules: a page to sign in, and the CSRF filter. */
    @Test
    @Tag("full")
    void theConsoleWorksForAUserWhoHasSignedIn() throws Exception {
        Stuck stuck = new Stuck(usual);
        try (ChromeDriver driver = Servers.require(ChromeDriver::launchNew);
                Browser browser = new Browser(driver, "--lang=en")) {
            browser.open(url(usual) + "lockconsole");
            browser.type("input[name=username]", "operator");
            browser.type("input[name=password]", "secret");
            browser.click("button[type=submit]");
            browser.awaitText("td a.lock", "order:42");
            browser.click("td a.lock");
            browser.await("document.querySelector('button.danger')");
            browser.click("button.danger");
            browser.type("#typed", "order:42");
            browser.type("#reason", "stuck");
            browser.click("#go");
            browser.awaitText(".notice", "403");
            assertThat(stuck.isFree()).isFalse();
        }
    }
}
