package dev.lockstep.console;

import dev.lockstep.servers.ChromeDriver;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A browser that a test drives with W3C WebDriver requests. For one thread. */
final class Browser implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Pattern ELEMENT = Pattern.compile("\"element-6066-11e4-a52e-4f735466cecf\":\"([^\"]+)\"");
    private static final Pattern SESSION = Pattern.compile("\"sessionId\":\"([^\"]+)\"");

    private final HttpClient http = HttpClient.newHttpClient();
    private final String session;

    Browser(ChromeDriver driver, String... arguments) throws IOException, InterruptedException {
        String opened = send("POST", driver.url() + "/session", driver.capabilities(arguments));
        Matcher id = SESSION.matcher(opened);
        if (!id.find()) {
            throw new IOException("no session: " + opened);
        }
        session = driver.url() + "/session/" + id.group(1);
    }

    void open(String url) throws IOException, InterruptedException {
        post("/url", Map.of("url", url));
    }

    /** Runs a script, and returns what it returns, as text. */
    String run(String script) throws IOException, InterruptedException {
        String wrapped = "const f = () => { " + script + " }; const r = f(); return r === undefined ? '' : String(r);";
        return value(post("/execute/sync", Map.of("script", wrapped, "args", List.of())));
    }

    /** The text that a user sees of an element; empty if there is none. */
    String text(String css) throws IOException, InterruptedException {
        return run("const e = document.querySelector(" + Json.write(css) + "); return e ? e.innerText : ''");
    }

    /** Waits until an expression is true. */
    void await(String expression) throws IOException, InterruptedException {
        await(expression, PATIENCE);
    }

    void await(String expression, Duration patience) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!run("return !!(" + expression + ")").equals("true")) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not true within " + patience + ": " + expression + "\n" + text("body"));
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    void awaitText(String css, String part) throws IOException, InterruptedException {
        await("[...document.querySelectorAll(" + Json.write(css) + ")].some(e => e.innerText.includes("
                + Json.write(part) + "))");
    }

    void click(String css) throws IOException, InterruptedException {
        post("/element/" + element(css) + "/click", Map.of());
    }

    void type(String css, String text) throws IOException, InterruptedException {
        post("/element/" + element(css) + "/value", Map.of("text", text));
    }

    /** What the browser complained about, such as a violated policy. */
    String complaints() throws IOException, InterruptedException {
        return post("/se/log", Map.of("type", "browser"));
    }

    void size(int width, int height) throws IOException, InterruptedException {
        post(
                "/goog/cdp/execute",
                Map.of(
                        "cmd",
                        "Emulation.setDeviceMetricsOverride",
                        "params",
                        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600)));
    }

    void screenshot(Path file) throws IOException, InterruptedException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, Base64.getDecoder().decode(value(send("GET", session + "/screenshot", ""))));
    }

    private String element(String css) throws IOException, InterruptedException {
        String answer = post("/element", Map.of("using", "css selector", "value", css));
        Matcher id = ELEMENT.matcher(answer);
        if (!id.find()) {
            throw new AssertionError("no element " + css + ": " + answer);
        }
        return id.group(1);
    }

    private String post(String path, Map<String, Object> body) throws IOException, InterruptedException {
        return send("POST", session + path, Json.write(body));
    }

    private String send(String method, String url, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .timeout(Duration.ofSeconds(60))
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        if (answer.statusCode() != 200) {
            throw new AssertionError(method + " " + url + ": " + answer.body());
        }
        return answer.body();
    }

    /** The string that an answer has as its value. */
    private static String value(String json) {
        int at = json.indexOf("\"value\":\"") + "\"value\":\"".length();
        StringBuilder text = new StringBuilder();
        while (json.charAt(at) != '"') {
            char c = json.charAt(at++);
            if (c == '\\') {
                char escaped = json.charAt(at++);
                if (escaped == 'u') {
                    text.append((char) Integer.parseInt(json.substring(at, at + 4), 16));
                    at += 4;
                } else {
                    int known = "nrtbf".indexOf(escaped);
                    text.append(known < 0 ? escaped : "\n\r\t\b\f".charAt(known));
                }
            } else {
                text.append(c);
            }
        }
        return text.toString();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        send("DELETE", session, "");
    }
}
