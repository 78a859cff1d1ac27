package dev.lockstep.boot.console;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** A service with a web server that shows its console under the actuator, reports what that answers, and ends. */
@SpringBootApplication
public class ConsoleService {
    /** Starts the service. */
    public static void main(String[] arguments) throws Exception {
        try (ConfigurableApplicationContext context = SpringApplication.run(ConsoleService.class, arguments)) {
            URI actuator = URI.create(
                    "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + "/actuator/");
            Lease lease = context.getBean(LockClient.class).lock("order:42").acquire();
            report("page", get(actuator.resolve("lockconsole")));
            report("script", get(actuator.resolve("lockconsole/app.js")));
            HttpResponse<String> all = get(actuator.resolve("lockconsole/api/now"));
            for (int i = 0; i < 100 && !all.body().contains("order:42"); i++) {
                Thread.sleep(200); // until the console has looked again
                all = get(actuator.resolve("lockconsole/api/now"));
            }
            report("without parameters", all);
            report("with parameters", get(actuator.resolve("lockconsole/api/now?prefix=cart&limit=1")));
            report(
                    "release",
                    HttpClient.newHttpClient()
                            .send(
                                    HttpRequest.newBuilder(actuator.resolve("lockconsole/api/release"))
                                            .header("Content-Type", "application/json")
                                            .POST(HttpRequest.BodyPublishers.ofString(
                                                    "{\"namespace\":\"lockstep\",\"name\":\"order:42\","
                                                            + "\"confirmation\":\"order:42\",\"reason\":\"stuck\","
                                                            + "\"token\":\"" + lease.token() + "\"}"))
                                            .build(),
                                    HttpResponse.BodyHandlers.ofString()));
        }
    }

    private static HttpResponse<String> get(URI uri) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static void report(String what, HttpResponse<String> answer) {
        String body = answer.body().replaceAll("\\s+", " ");
        System.out.println("CONSOLE " + what + ": " + answer.statusCode() + " "
                + answer.headers().firstValue("Content-Type").orElse("") + " " + body);
    }
}
