package dev.lockstep.servers;

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
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A browser that a test drives with W3C WebDriver requests. A request that fails is an {@link AssertionError}. For one thread. */
public final class Browser implements AutoCloseable {
    /** A key for {@link #press}, as are the next ones. */
    public static final String TAB = "\uE004";

    /** The key Enter. */
    public static final String ENTER = "\uE007";

    /** The key Escape. */
    public static final String ESCAPE = "\uE00C";

    /** The right arrow. */
    public static final String RIGHT = "\uE014";

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Pattern ELEMENT = Pattern.compile("\"element-6066-11e4-a52e-4f735466cecf\":\"([^\"]+)\"");
    private static final Pattern SESSION = Pattern.compile("\"sessionId\":\"([^\"]+)\"");

    private final HttpClient http = HttpClient.newHttpClient();
    private final String session;

    /**
     * Opens a browser with a new profile.
     *
     * @param driver starts it
     * @param arguments further arguments of Chromium
     */
    public Browser(ChromeDriver driver, String... arguments) throws IOException, InterruptedException {
        String opened = send("POST", driver.url() + "/session", driver.capabilities(arguments));
        Matcher id = SESSION.matcher(opened);
        if (!id.find()) {
            throw new IOException("no session: " + opened);
        }
        session = driver.url() + "/session/" + id.group(1);
    }

    /** Opens a page, and waits until it is loaded. */
    public void open(String url) throws IOException, InterruptedException {
        post("/url", "{\"url\":" + quote(url) + "}");
    }

    /** Runs a script, and returns what it returns, as text. */
    public String run(String script) throws IOException, InterruptedException {
        String wrapped = "const f = () => { " + script + " }; const r = f(); return r === undefined ? '' : String(r);";
        return value(post("/execute/sync", "{\"script\":" + quote(wrapped) + ",\"args\":[]}"));
    }

    /** The text that a user sees of an element; empty if there is none. */
    public String text(String css) throws IOException, InterruptedException {
        return run("const e = document.querySelector(" + quote(css) + "); return e ? e.innerText : ''");
    }

    /** Waits until an expression is true. */
    public void await(String expression) throws IOException, InterruptedException {
        await(expression, PATIENCE);
    }

    /** Waits until an expression is true. */
    public void await(String expression, Duration patience) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!run("return !!(" + expression + ")").equals("true")) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not true within " + patience + ": " + expression + "\n" + text("body"));
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    /** Waits until one of some elements shows a text. */
    public void awaitText(String css, String part) throws IOException, InterruptedException {
        await("[...document.querySelectorAll(" + quote(css) + ")].some(e => e.innerText.includes(" + quote(part)
                + "))");
    }

    /** Clicks on an element. */
    public void click(String css) throws IOException, InterruptedException {
        post("/element/" + element(css) + "/click", "{}");
    }

    /** Types a text into an element. */
    public void type(String css, String text) throws IOException, InterruptedException {
        post("/element/" + element(css) + "/value", "{\"text\":" + quote(text) + "}");
    }

    /** Presses a key, whatever has the focus. */
    public void press(String key) throws IOException, InterruptedException {
        String value = "\"value\":" + quote(key) + "}";
        post(
                "/actions",
                "{\"actions\":[{\"type\":\"key\",\"id\":\"keyboard\",\"actions\":[{\"type\":\"keyDown\"," + value
                        + ",{\"type\":\"keyUp\"," + value + "]}]}");
    }

    /** Drags with the mouse, from the middle of an element. */
    public void drag(String css, int right, int down) throws IOException, InterruptedException {
        String origin = "{\"element-6066-11e4-a52e-4f735466cecf\":" + quote(element(css)) + "}";
        String move = "{\"type\":\"pointerMove\",\"duration\":100,\"origin\":";
        post(
                "/actions",
                "{\"actions\":[{\"type\":\"pointer\",\"id\":\"mouse\",\"actions\":[" + move + origin
                        + ",\"x\":0,\"y\":0},"
                        + "{\"type\":\"pointerDown\",\"button\":0}," + move + "\"pointer\",\"x\":" + right
                        + ",\"y\":" + down + "},{\"type\":\"pointerUp\",\"button\":0}]}]}");
    }

    /** The complaints of the browser, such as a violated policy. */
    public String complaints() throws IOException, InterruptedException {
        return post("/se/log", "{\"type\":\"browser\"}");
    }

    /** Sets the size of the page, without scroll bars; that of a phone if it is narrow. */
    public void size(int width, int height) throws IOException, InterruptedException {
        post("/goog/cdp/execute", "{\"cmd\":\"Emulation.setScrollbarsHidden\",\"params\":{\"hidden\":true}}");
        post(
                "/goog/cdp/execute",
                "{\"cmd\":\"Emulation.setDeviceMetricsOverride\",\"params\":{\"width\":" + width + ",\"height\":"
                        + height + ",\"deviceScaleFactor\":1,\"mobile\":" + (width < 600) + "}}");
    }

    /** Writes a picture of the page. */
    public void screenshot(Path file) throws IOException, InterruptedException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, Base64.getDecoder().decode(value(send("GET", session + "/screenshot", ""))));
    }

    private String element(String css) throws IOException, InterruptedException {
        String answer = post("/element", "{\"using\":\"css selector\",\"value\":" + quote(css) + "}");
        Matcher id = ELEMENT.matcher(answer);
        if (!id.find()) {
            throw new AssertionError("no element " + css + ": " + answer);
        }
        return id.group(1);
    }

    private String post(String path, String body) throws IOException, InterruptedException {
        return send("POST", session + path, body);
    }

    /** A text as a string of JSON or of a script. */
    public static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
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
