package dev.lockstep.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.console.Console;
import dev.lockstep.servers.Browser;
import dev.lockstep.servers.ChromeDriver;
import dev.lockstep.servers.Servers;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.embedded.EmbeddedWebServerFactoryCustomizerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The console as an endpoint of the actuator, over HTTP. */
@Timeout(120)
class ConsoleEndpointTest {
    /** A web application with the actuator, and without anything for security. */
    @Configuration(proxyBeanMethods = false)
    // By name, since the class path also has parts of Boot 4.
    @ImportAutoConfiguration({
        LockstepAutoConfiguration.class,
        LockstepConsoleAutoConfiguration.class,
        EmbeddedWebServerFactoryCustomizerAutoConfiguration.class, // which reads where Tomcat may write
        ServletWebServerFactoryAutoConfiguration.class,
        DispatcherServletAutoConfiguration.class,
        WebMvcAutoConfiguration.class,
        HttpMessageConvertersAutoConfiguration.class,
        JacksonAutoConfiguration.class,
        EndpointAutoConfiguration.class,
        WebEndpointAutoConfiguration.class,
        ManagementContextAutoConfiguration.class,
        ServletManagementContextAutoConfiguration.class
    })
    static class Web {}

    @Configuration(proxyBeanMethods = false)
    static class Service extends Web {
        /** In place of a library for security. */
        @Bean
        Filter login() {
            return (request, answer, chain) -> chain.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public Principal getUserPrincipal() {
                            return () -> "alice";
                        }
                    },
                    answer);
        }
    }

    private static ConfigurableApplicationContext start(String... arguments) {
        String[] all = new String[arguments.length + 3];
        all[0] = "--server.port=0";
        all[1] = "--lockstep.url=memory:";
        all[2] = "--spring.main.banner-mode=off";
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return SpringApplication.run(Service.class, all);
    }

    private static String url(ConfigurableApplicationContext context) {
        String port = Objects.requireNonNull(context.getEnvironment().getProperty("local.server.port"));
        return "http://127.0.0.1:" + port + "/actuator/lockconsole";
    }

    private static HttpResponse<String> send(ConfigurableApplicationContext context, String path, String json)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url(context) + path));
        if (!json.isEmpty()) {
            request.header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(json));
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> form(ConfigurableApplicationContext context, String body)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url(context) + "/api/release"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    private interface Action {
        void run() throws Exception;
    }

    /** The text written to the log, which is standard error here. */
    private static String logged(Action action) throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(before);
        }
        return log.toString(StandardCharsets.UTF_8);
    }

    @Test
    @Tag("full")
    void aLockIsReleasedByForceInABrowser() throws Exception {
        try (ConfigurableApplicationContext context = start(
                        "--management.endpoints.web.exposure.include=lockconsole",
                        "--lockstep.console.allow-release=true");
                ChromeDriver driver = Servers.require(ChromeDriver::launchNew);
                Browser browser = new Browser(driver, "--lang=en")) {
            LockClient locks = context.getBean(LockClient.class);
            locks.lock("order:42").acquire();
            browser.open(url(context));
            browser.awaitText("td a.lock", "order:42");
            String loaded = browser.run("return performance.timeOrigin");
            browser.click("nav a[data-page=clients]");
            browser.awaitText("h1", "Clients");
            browser.click("nav a[data-page=now]");
            browser.awaitText("td a.lock", "order:42");
            browser.click("td a.lock");
            browser.awaitText("h1", "order:42");
            assertThat(browser.run("return performance.timeOrigin"))
                    .as("a link of the page does not load it again")
                    .isEqualTo(loaded);
            browser.await("document.querySelector('button.danger')");
            browser.click("button.danger");
            browser.type("#typed", "order:42");
            browser.type("#reason", "stuck");
            browser.click("#go");
            browser.awaitText(".notice", "Released.");
            assertThat(locks.inspect("order:42").isFree()).isTrue();

            browser.open(url(context) + "/#/lock?namespace=lockstep&name=order%3A42");
            browser.awaitText("main", "Nobody holds this lock.");
            assertThat(browser.complaints()).isEqualTo("{\"value\":[]}");
        }
    }

    @Test
    void itIsThereOnlyIfItIsExposed() {
        try (ConfigurableApplicationContext context = start()) {
            assertThat(context.getBeansOfType(LockConsoleEndpoint.class)).isEmpty();
            assertThat(context.getBeansOfType(Console.class)).isEmpty();
        }
    }

    @Test
    void anApplicationWithAClientOfItsOwnAndWithoutTheAutoConfigurationStarts() {
        try (LockClient own = LockClient.connect("memory:")) {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(
                            LockstepAutoConfiguration.class,
                            LockstepConsoleAutoConfiguration.class,
                            EndpointAutoConfiguration.class))
                    .withBean(LockClient.class, () -> own)
                    .withPropertyValues(
                            "lockstep.enabled=false", "management.endpoints.web.exposure.include=lockconsole")
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockConsoleEndpoint.class));
        }
    }

    @Test
    void itServesThePageItsFilesAndData() throws Exception {
        try (ConfigurableApplicationContext context =
                start("--management.endpoints.web.exposure.include=lockconsole")) {
            HttpResponse<String> page = send(context, "", "");
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html;charset=utf-8");
            assertThat(page.body())
                    .contains("src=\"lockconsole/app.js\"", "content=\"poll\"")
                    .doesNotContain("<base");
            // Where a browser with a slash at the end of the address comes to: the same page, with its own kind of
            // requests.
            HttpResponse<String> below = send(context, "/", "");
            assertThat(below.statusCode()).isEqualTo(200);
            assertThat(below.body()).contains("src=\"app.js\"", "content=\"poll\"");
            HttpResponse<String> script = send(context, "/app.js", "");
            assertThat(script.headers().firstValue("Content-Type")).hasValue("text/javascript;charset=utf-8");
            assertThat(script.body()).startsWith("//");
            assertThat(send(context, "/api/nothing", "").statusCode()).isEqualTo(404);
            try (Lease lease =
                    context.getBean(LockClient.class).lock("order:42").acquire()) {
                assertThat(lease.isValid()).isTrue();
                long deadline = System.nanoTime() + 20_000_000_000L;
                String data;
                do {
                    data = send(context, "/api/now?prefix=order&limit=1", "").body();
                } while (!data.contains("order:42") && System.nanoTime() < deadline);
                assertThat(data).contains("\"total\":1", "order:42", "\"release\":false");
            }
            assertThat(send(context, "/api/release", "{\"name\":\"a\"}").statusCode())
                    .isEqualTo(405);
        }
    }

    @Test
    void itReleasesIfThatIsAllowed() throws Exception {
        try (ConfigurableApplicationContext context = start(
                "--management.endpoints.web.exposure.include=lockconsole", "--lockstep.console.allow-release=true")) {
            LockClient locks = context.getBean(LockClient.class);
            locks.lock("order:42").acquire();
            String token = Long.toString(
                    locks.inspect("order:42").holders().get(0).token().orElseThrow());
            String request = "{\"namespace\":\"lockstep\",\"name\":\"order:42\",\"confirmation\":\"%s\",\"token\":\""
                    + token + "\",\"reason\":\"stuck\"}";
            assertThat(send(context, "/api/release", String.format(request, "order"))
                            .statusCode())
                    .isEqualTo(400);
            assertThat(locks.inspect("order:42").isFree()).isFalse();
            assertThat(send(context, "/api/other", String.format(request, "order:42"))
                            .statusCode())
                    .isEqualTo(404);
            assertThat(form(
                                    context,
                                    "namespace=lockstep&name=order:42&confirmation=order:42&reason=stuck&token="
                                            + token)
                            .statusCode())
                    .as("what a form of another site could send")
                    .isEqualTo(415);
            assertThat(locks.inspect("order:42").isFree()).isFalse();
            String log = logged(() -> assertThat(send(context, "/api/release", String.format(request, "order:42"))
                            .body())
                    .isEqualTo("{\"released\":true}"));
            assertThat(locks.inspect("order:42").isFree()).isTrue();
            assertThat(log)
                    .contains(
                            "lock='order:42' token=" + token,
                            "outcome='released'",
                            "by='actuator endpoint, user alice'",
                            "reason='stuck'");
        }
    }
}
