package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.io.BufferedReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code lockstep console} prints and refuses. */
@Timeout(60)
class ConsoleCommandTest {
    private static String refused(String... arguments) {
        StringWriter err = new StringWriter();
        int code = Main.run(new PrintWriter(new StringWriter()), new PrintWriter(err), arguments);
        assertThat(code).isEqualTo(ExitCodes.USAGE);
        return err.toString();
    }

    @Test
    void otherAddressesNeedAToken() {
        assertThat(refused("console", "--url", "memory:", "--address", "0.0.0.0", "--port", "0"))
                .contains("needs a token to listen on 0.0.0.0");
    }

    @Test
    void theEngineIsAskedOnceASecondAtMost() {
        assertThat(refused("console", "--url", "memory:", "--interval", "0.5")).contains("from a second to an hour");
    }

    @Test
    void itSaysWhereItIsAndWritesReleasesToStandardError(@TempDir Path folder) throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("locks.db");
        Path err = folder.resolve("err");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "console",
                        "--url",
                        url,
                        "--port",
                        "0",
                        "--allow-release")
                .redirectError(err.toFile())
                .start();
        try (LockClient locks = LockClient.connect(url);
                BufferedReader out = process.inputReader()) {
            String line = String.valueOf(out.readLine());
            assertThat(line).matches("Lockstep console: http://127\\.0\\.0\\.1:\\d+/  \\(locks can be released\\)");
            URI console = URI.create(line.split(" +", -1)[2]);
            HttpClient http = HttpClient.newHttpClient();
            HttpResponse<String> page =
                    http.send(HttpRequest.newBuilder(console).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.body()).contains("<title>Lockstep console</title>");

            Lease lease = locks.lock("order:42").acquire();
            HttpRequest release = HttpRequest.newBuilder(console.resolve("api/release"))
                    .header("X-Lockstep-Console", "1")
                    .POST(HttpRequest.BodyPublishers.ofString(
                            "namespace=lockstep&name=order:42&confirmation=order:42&reason=stuck&token="
                                    + lease.token()))
                    .build();
            assertThat(http.send(release, HttpResponse.BodyHandlers.ofString()).body())
                    .isEqualTo("{\"released\":true}");
            assertThat(locks.inspect("order:42").isFree()).isTrue();
            assertThat(Files.readString(err))
                    .contains("force release: namespace='lockstep' lock='order:42' token=" + lease.token())
                    .contains("outcome='released'", "reason='stuck'");
        } finally {
            process.destroy();
        }
    }

    @Test
    void anEngineIsNeeded() {
        assertThat(refused("console", "--url", "nothing:")).isNotEmpty();
    }
}
