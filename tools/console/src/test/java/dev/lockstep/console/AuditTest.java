package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.memory.MemoryEngine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The log messages about releases by force. */
@Timeout(60)
class AuditTest {
    private final MemoryEngine engine = new MemoryEngine();

    private LockClient client(String name) {
        return LockClient.builder()
                .backend(engine)
                .clientName(name)
                .requestTimeout(Duration.ofSeconds(1))
                .connect();
    }

    /** Releases, and returns the lines of the log, which is standard error here. */
    private static List<String> release(Console console, long token, String reason, int status) {
        return release(console, new Console.Release("lockstep", "order:42", "order:42", token, reason), status);
    }

    private static List<String> release(Console console, Console.Release request, int status) {
        return lines(() -> console.release(request, "alice\nbob").status(), status);
    }

    private static List<String> lines(Callable<Integer> attempt, int status) {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            assertThat(attempt).satisfies(asked -> assertThat(asked.call()).isEqualTo(status));
        } finally {
            System.setErr(before);
        }
        return log.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("force release:"))
                .toList();
    }

    @Test
    void theUserNameThatCameWithTheTokenIsRepeated() {
        String basic =
                Base64.getEncoder().encodeToString("alice:correct-horse:battery".getBytes(StandardCharsets.UTF_8));
        assertThat(Guard.user("Basic " + basic)).isEqualTo("alice");
        assertThat(Guard.user("Bearer correct-horse-battery")).isEmpty();
        assertThat(Guard.user("Basic !!!")).isEmpty();
        assertThat(Guard.user(null)).isEmpty();
    }

    @Test
    void eachAttemptIsOneLineWithItsResult() throws InterruptedException {
        try (LockClient operator = client("operator");
                LockClient holder = client("api-1");
                Console console = Console.builder(operator).allowRelease().mount()) {
            Lease lease = holder.lock("order:42").acquire();
            long token = lease.token();
            assertThat(release(console, 1, "stuck", 200))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains("token=1 outcome='nothing to release' by='alice\\u{a}bob' reason='stuck'"));
            assertThat(release(console, token, "again", 200))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains("namespace='lockstep' lock='order:42' token=" + token + " outcome='released'"));
            engine.disconnect("operator", MemoryEngine.Outage.REPLIES_LOST);
            assertThat(release(console, token, "down", 503))
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("outcome='failed'", "reason='down'"));
            engine.reconnect("operator");
        }
    }

    @Test
    void anAttemptThatTheConsoleRefusesIsALineToo() {
        try (LockClient operator = client("operator");
                Console readOnly = Console.builder(operator).mount();
                Console console = Console.builder(operator)
                        .namespace("shop")
                        .allowRelease()
                        .mount()) {
            refused(readOnly, new Console.Release("shop", "order:42", "order:42", 7, "stuck"), 403);
            refused(console, new Console.Release("shop", "order:42", "order:4", 7, "stuck"), 400);
            refused(console, new Console.Release("shop", "order:42", "order:42", 7, " "), 400);
            refused(console, new Console.Release("shop", "order:42", "order:42", 0, "stuck"), 400);
            refused(console, new Console.Release("billing", "order:42", "order:42", 7, "stuck"), 400);
        }
    }

    private static void refused(Console console, Console.Release request, int status) {
        assertThat(release(console, request, status))
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .contains(
                                "lock='order:42' token=" + request.token() + " outcome='refused'",
                                "reason='" + request.reason() + "'"));
    }

    @Test
    void anAttemptWithoutATokenIsALineToo() throws IOException {
        try (LockClient operator = client("operator");
                Console console = Console.builder(operator)
                        .allowRelease()
                        .start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            HttpRequest request = HttpRequest.newBuilder(
                            console.uri().orElseThrow().resolve("api/release"))
                    .header(Guard.CSRF_HEADER, "1")
                    .POST(HttpRequest.BodyPublishers.ofString(
                            "namespace=lockstep&name=order:42&confirmation=order:42&reason=stuck"))
                    .build();
            HttpClient http = HttpClient.newHttpClient();
            assertThat(lines(
                            () -> http.send(request, HttpResponse.BodyHandlers.ofString())
                                    .statusCode(),
                            400))
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("token=0 outcome='refused' by='/127.0.0.1:"));
        }
    }

    @Test
    void anAuditLineStaysOneLine() {
        assertThat(Audit.printable("a\nb\r\u0085c\u2028d 锁")).isEqualTo("a\\u{a}b\\u{d}\\u{85}c\\u{2028}d 锁");
    }

    @Test
    void aNameInTheAuditLineIsNoOtherField() {
        assertThat(Audit.printable("a' token=1 by='b\\")).isEqualTo("a\\' token=1 by=\\'b\\\\");
        assertThat(Audit.printable("\u202eeman")).isEqualTo("\\u{202e}eman");
    }
}
