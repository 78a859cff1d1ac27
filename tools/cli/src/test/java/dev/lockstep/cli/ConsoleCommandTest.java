package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The output of {@code lockstep console}, and the options that it refuses. */
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
        Process process = start(err, Map.of(), "--url", url, "--allow-release");
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

    private static Process start(Path err, Map<String, String> environment, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "console",
                "--port",
                "0"));
        command.addAll(List.of(arguments));
        ProcessBuilder process = new ProcessBuilder(command).redirectError(err.toFile());
        process.environment().putAll(environment);
        return process.start();
    }

    /** Where a console is that has just been started. */
    private static URI uri(Process process) throws IOException {
        String line = String.valueOf(process.inputReader().readLine());
        assertThat(line).startsWith("Lockstep console: http://");
        return URI.create(line.split(" +", -1)[2]);
    }

    /** The first line of the answer. An HTTP client would not send another host's name. */
    private static String status(URI console, String host, String token) throws IOException {
        try (Socket socket = new Socket(console.getHost(), console.getPort())) {
            String request = "GET /api/now HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + token
                    + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return answer.lines().findFirst().orElse("");
        }
    }

    @Test
    void theTokenComesFromAFileAndTheProxysNameFromAnOption(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("console.token"), "correct-horse-battery\n");
        Process process = start(
                folder.resolve("err"),
                Map.of("LOCKSTEP_CONSOLE_TOKEN", "the-file-comes-first"),
                "--url",
                "memory:",
                "--token-file",
                file.toString(),
                "--host-name",
                "locks.example.com");
        try {
            URI console = uri(process);
            assertThat(status(console, "localhost", "correct-horse-battery")).isEqualTo("HTTP/1.1 200 OK");
            assertThat(status(console, "localhost", "the-file-comes-first")).startsWith("HTTP/1.1 401");
            assertThat(status(console, "locks.example.com", "correct-horse-battery"))
                    .isEqualTo("HTTP/1.1 200 OK");
            assertThat(status(console, "www.example.com", "correct-horse-battery"))
                    .startsWith("HTTP/1.1 421");
        } finally {
            process.destroy();
        }
    }

    @Test
    void theTokenMayComeFromTheEnvironment(@TempDir Path folder) throws Exception {
        Process process = start(
                folder.resolve("err"),
                Map.of("LOCKSTEP_CONSOLE_TOKEN", "correct-horse-battery"),
                "--url",
                "memory:",
                "--address",
                "0.0.0.0");
        try {
            URI console = uri(process);
            assertThat(status(console, "localhost", "correct-horse-battery")).isEqualTo("HTTP/1.1 200 OK");
            assertThat(status(console, "localhost", "another-horse-battery")).startsWith("HTTP/1.1 401");
        } finally {
            process.destroy();
        }
    }

    @Test
    void aTokenFileThatCannotBeReadIsNamed(@TempDir Path folder) throws IOException {
        Path missing = folder.resolve("console.token");
        assertThat(refused("console", "--url", "memory:", "--port", "0", "--token-file", missing.toString()))
                .contains("cannot read the token file " + missing);
        Path shorter = Files.writeString(folder.resolve("short.token"), "short\n");
        assertThat(refused("console", "--url", "memory:", "--port", "0", "--token-file", shorter.toString()))
                .contains("the console's token must have 16 characters or more");
    }

    @Test
    void anEngineIsNeeded() {
        assertThat(refused("console", "--url", "nothing:")).isNotEmpty();
    }
}
