package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The answers of the console to permitted and refused requests. */
@Timeout(60)
class HttpTest {
    private static final String TOKEN = "correct-horse-battery";
    private static final String HOSTILE = "<script>alert(1)</script>";

    private final LockClient locks = LockClient.builder()
            .url("memory:")
            .namespace("shop")
            .clientName("api-1")
            .connect();
    private Console console = start(Console.builder(locks).namespace("shop"));

    private static Console start(Console.Builder builder) {
        try {
            return builder.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void restart(Console.Builder builder) {
        console.close();
        console = start(builder.namespace("shop"));
    }

    @AfterEach
    void close() {
        console.close();
        locks.close();
    }

    /** A raw request: an HTTP client would refuse to send some of these. */
    private String raw(String requestLine, String... headers) throws IOException {
        URI uri = console.uri().orElseThrow();
        try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
            StringBuilder text = new StringBuilder(requestLine).append(" HTTP/1.1\r\n");
            for (String header : headers) {
                text.append(header).append("\r\n");
            }
            text.append("Connection: close\r\n\r\n");
            socket.getOutputStream().write(text.toString().getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String host() {
        return "Host: 127.0.0.1:" + console.uri().orElseThrow().getPort();
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(console.uri().orElseThrow().resolve(path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> release(String name, String typed, String token, String reason)
            throws IOException, InterruptedException {
        String body = "namespace=shop&name=" + encode(name) + "&confirmation=" + encode(typed) + "&token=" + token
                + "&reason=" + encode(reason);
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(console.uri().orElseThrow().resolve("api/release"))
                                .header(Guard.CSRF_HEADER, "1")
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Test
    void everyAnswerHasAStrictPolicy() throws Exception {
        for (String path : List.of("", "app.js", "app.css", "api/now", "api/nothing")) {
            HttpResponse<String> answer = get(path);
            assertThat(answer.headers().firstValue("Content-Security-Policy")).hasValueSatisfying(policy -> {
                assertThat(policy).contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'");
                assertThat(policy).doesNotContain("unsafe", "http:", "https:", "data:", "*");
            });
            assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
            assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-store");
        }
        String index = get("").body();
        assertThat(index).doesNotContain("style=").doesNotContainPattern("<script(?! type=\"module\" src=)");
        assertThat(index).doesNotContain("http://", "https://");
    }

    @Test
    void anotherHostIsRefused() throws Exception {
        assertThat(raw("GET /api/now", "Host: evil.example")).startsWith("HTTP/1.1 421");
        assertThat(raw("GET /api/now", "Host: evil.example:80")).startsWith("HTTP/1.1 421");
        assertThat(raw("GET /api/now")).doesNotStartWith("HTTP/1.1 200");
        assertThat(raw("GET /api/now", host())).startsWith("HTTP/1.1 200");
        assertThat(raw("GET /api/now", "Host: localhost")).startsWith("HTTP/1.1 200");
        restart(Console.builder(locks).hostName("locks.example"));
        assertThat(raw("GET /api/now", "Host: Locks.Example")).startsWith("HTTP/1.1 200");
    }

    @Test
    void everyFormOfItsIpv6AddressIsItsHost() {
        Guard guard = new Guard(new InetSocketAddress("2001:db8::1", 8080), null, List.of("[2001:DB8::2]"));
        for (String host : List.of(
                "[2001:db8::1]:8080",
                "[2001:DB8::1]",
                "[2001:db8:0:0:0:0:0:1]:8080",
                "[2001:0db8::0001]",
                "[2001:db8:0:0::2]",
                "[::1]:8080",
                "[0:0:0:0:0:0:0:1]")) {
            assertThat(guard.refusal("GET", Map.of("Host", host)::get)).as(host).isNull();
        }
        for (String host : List.of("[2001:db8::3]:8080", "[2001:db8::1", "[:]", "[2001:db8::1%1]", "[localhost]")) {
            assertThat(guard.refusal("GET", Map.of("Host", host)::get)).as(host).isNotNull();
        }
    }

    @Test
    void anotherOriginIsRefused() throws Exception {
        String own = host().substring("Host: ".length());
        assertThat(raw("GET /api/now", host(), "Origin: http://evil.example")).startsWith("HTTP/1.1 403");
        assertThat(raw("GET /api/now", host(), "Origin: null")).startsWith("HTTP/1.1 403");
        assertThat(raw("GET /api/now", host(), "Origin: http://" + own + ".evil.example"))
                .startsWith("HTTP/1.1 403");
        assertThat(raw("GET /api/now", host(), "Origin: http://127.0.0.1:1")).startsWith("HTTP/1.1 403");
        assertThat(raw("GET /api/now", host(), "Origin: http://" + own)).startsWith("HTTP/1.1 200");
        assertThat(raw("GET /api/now", host(), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"))
                .startsWith("HTTP/1.1 403");
        assertThat(raw("GET /", host(), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"))
                .startsWith("HTTP/1.1 200");
    }

    @Test
    void otherMethodsAndPathsAreRefused() throws Exception {
        assertThat(raw("DELETE /api/now", host(), "X-Lockstep-Console: 1")).startsWith("HTTP/1.1 405");
        assertThat(raw("POST /api/now", host(), "X-Lockstep-Console: 1", "Content-Length: 0"))
                .startsWith("HTTP/1.1 405");
        assertThat(raw("HEAD /", host())).startsWith("HTTP/1.1 200").endsWith("\r\n\r\n");
        for (String path : List.of(
                "/../app.js",
                "/..%2f..%2fetc/passwd",
                "/%2e%2e/%2e%2e/etc/passwd",
                "/..\\app.js",
                "//etc/passwd",
                "/web/app.js",
                "/Console.class",
                "/META-INF/MANIFEST.MF",
                "/app.js%00",
                "/APP.JS")) {
            assertThat(raw("GET " + path, host())).as(path).doesNotStartWith("HTTP/1.1 200");
        }
    }

    @Test
    void anAddressThatIsNotLoopbackNeedsAToken() {
        Console.Builder builder = Console.builder(locks);
        assertThatThrownBy(() -> builder.start(new InetSocketAddress("0.0.0.0", 0)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("token");
        assertThatThrownBy(() -> builder.token("short")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theTokenIsAskedForOnEveryPath() throws Exception {
        restart(Console.builder(locks).token(TOKEN));
        String basic = Base64.getEncoder().encodeToString(("me:" + TOKEN).getBytes(StandardCharsets.UTF_8));
        String wrong = Base64.getEncoder().encodeToString(("me:" + TOKEN + "x").getBytes(StandardCharsets.UTF_8));
        for (String path : List.of("/", "/app.js", "/api/now", "/api/stream", "/nothing")) {
            assertThat(raw("GET " + path, host()))
                    .startsWith("HTTP/1.1 401")
                    .containsIgnoringCase("WWW-Authenticate: Basic");
        }
        assertThat(raw("GET /api/now", host(), "Authorization: Basic " + wrong)).startsWith("HTTP/1.1 401");
        assertThat(raw("GET /api/now?token=" + TOKEN, host())).startsWith("HTTP/1.1 401");
        assertThat(raw("GET /api/now", host(), "Authorization: Basic !!!")).startsWith("HTTP/1.1 401");
        assertThat(raw("GET /api/now", host(), "Authorization: Bearer ")).startsWith("HTTP/1.1 401");
        assertThat(raw("GET /api/now", host(), "Authorization: Basic " + basic)).startsWith("HTTP/1.1 200");
        assertThat(raw("GET /api/now", host(), "Authorization: Bearer " + TOKEN))
                .startsWith("HTTP/1.1 200");
        assertThat(raw("GET /api/now", "Host: evil.example", "Authorization: Bearer " + TOKEN))
                .startsWith("HTTP/1.1 421");
    }

    @Test
    void aReleaseNeedsPermissionHeaderNameReasonAndToken() throws Exception {
        Lease lease = locks.lock("order:42").acquire();
        String token = token("order:42");
        assertThat(release("order:42", "order:42", token, "stuck").statusCode()).isEqualTo(403);
        restart(Console.builder(locks).allowRelease());
        assertThat(raw("POST /api/release", host(), "Content-Length: 0")).startsWith("HTTP/1.1 403");
        assertThat(release("order:42", "order:4", token, "stuck").statusCode()).isEqualTo(400);
        assertThat(release("order:42", "order:42", token, "  ").statusCode()).isEqualTo(400);
        assertThat(release("order:42", "order:42", "", "stuck").statusCode()).isEqualTo(400);
        assertThat(release("order:42", "order:42", "-1", "stuck").statusCode()).isEqualTo(400);
        assertThat(release("order:42", "order:42", token, "x".repeat(501)).statusCode())
                .isEqualTo(400);
        assertThat(release("order:42", "order:42", token, "x".repeat(20_000)).statusCode())
                .isEqualTo(413);
        assertThat(release("order:42", "order:42", "1", "stuck").body()).isEqualTo("{\"released\":false}");
        assertThat(lease.isValid()).isTrue();
        assertThat(release("order:42", "order:42", token, "stuck").body()).isEqualTo("{\"released\":true}");
        assertThat(locks.inspect("order:42").isFree()).isTrue();
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    private String token(String name) {
        LockInfo.Entry holder = locks.inspect(name).holders().get(0);
        return Long.toString(holder.token().orElseThrow());
    }

    @Test
    void hostileNamesAreData() throws Exception {
        try (Lease lease = locks.lock(HOSTILE).acquire()) {
            assertThat(lease.isValid()).isTrue();
            awaitSample();
            assertThat(get("api/now").body()).contains("\\u003cscript\\u003e").doesNotContain("<");
            String one = get("api/lock?namespace=shop&name=" + encode(HOSTILE)).body();
            assertThat(one).contains("\"holders\":1").doesNotContain("<");
        }
        assertThat(raw("GET /api/now?prefix=%zz", host())).doesNotStartWith("HTTP/1.1 5");
        assertThat(get("api/now?prefix=%ff&limit=x&limit=-1&sort=%00").statusCode())
                .isEqualTo(200);
        assertThat(get("api/history?at=99999999999999999999").statusCode()).isEqualTo(200);
        assertThat(get("api/history?at=9223372036854775807").statusCode()).isEqualTo(200);
        assertThat(get("api/lock").statusCode()).isEqualTo(200);
    }

    private void awaitSample() {
        Poller poller = console.poller();
        poller.await(poller.watch().version(), Duration.ofSeconds(20));
    }

    @Test
    void locksAreFoundByPrefixAndInPages() throws Exception {
        for (int i = 0; i < 30; i++) {
            assertThat(locks.lock("order:" + i).acquire().isValid()).isTrue();
        }
        assertThat(locks.lock("stock:1").acquire().isValid()).isTrue();
        awaitSample();
        String page = get("api/now?limit=5").body();
        assertThat(page).contains("\"total\":31", "\"most\":2000");
        assertThat(page.split("\"namespace\":\"shop\"", -1)).as("rows").hasSize(5 + 1);
        assertThat(get("api/now?prefix=stock").body())
                .contains("\"total\":1", "stock:1")
                .doesNotContain("order:1");
        assertThat(get("api/now?prefix=tock").body()).contains("\"total\":0");
        assertThat(get("api/clients").body()).contains("\"held\":31");
    }

    @Test
    void streamsFollowOnePoller() throws Exception {
        URI stream = console.uri().orElseThrow().resolve("api/stream");
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i < 5; i++) {
            HttpResponse<InputStream> answer =
                    client.send(HttpRequest.newBuilder(stream).build(), HttpResponse.BodyHandlers.ofInputStream());
            assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/event-stream;charset=utf-8");
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                assertThat(lines.readLine()).matches("data: \\d+");
                assertThat(lines.readLine()).isEmpty();
                assertThat(lines.readLine()).matches("data: \\d+");
            }
        }
    }

    @Test
    void thePageOfAMountedConsoleFindsItsFilesAndPolls() {
        try (Console mounted = Console.builder(locks).namespace("shop").mount()) {
            String index = new String(mounted.index("lockconsole/").body(), StandardCharsets.UTF_8);
            assertThat(index)
                    .contains("src=\"lockconsole/app.js\"", "href=\"lockconsole/app.css\"", "href=\"#/graph\"")
                    .contains("name=\"lockstep-live\" content=\"poll\"")
                    .doesNotContain("<base");
            for (String path : List.of("", "index.html")) {
                assertThat(new String(mounted.read(path, Map.of()).body(), StandardCharsets.UTF_8))
                        .contains("src=\"app.js\"", "content=\"poll\"");
            }
            assertThat(mounted.uri()).isEmpty();
            assertThat(mounted.read("app.js", Map.of()).status()).isEqualTo(200);
            assertThat(mounted.read("api/none", Map.of()).status()).isEqualTo(404);
            assertThatThrownBy(() -> mounted.index("\"><script>")).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
