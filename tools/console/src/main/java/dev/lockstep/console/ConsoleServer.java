package dev.lockstep.console;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves a console with the JDK's HTTP server. A request has a thread of its own, and so has a stream of events, so that a browser that
 * does not read delays nobody else. The number of streams is limited, and a browser without one asks again and again. A client that
 * sends or reads too slowly loses its connection ({@link SlowClients}). Thread-safe.
 */
final class ConsoleServer implements AutoCloseable {
    static final int MOST_STREAMS = 64;
    static final int MOST_THREADS = MOST_STREAMS + 32;
    private static final int LONGEST_BODY = 16_384;
    private static final Duration HEARTBEAT = Duration.ofSeconds(15);

    /** How long a client may take to send a request, or to read an answer. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    static final String CSP =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
                    + " base-uri 'self'; form-action 'none'; frame-ancestors 'none'";
    private static final Logger LOG = LoggerFactory.getLogger(ConsoleServer.class);

    private final Console console;
    private final Guard guard;
    private final HttpServer http;
    private final ThreadPoolExecutor threads;
    private final SlowClients clients;
    private final AtomicInteger streams = new AtomicInteger();

    ConsoleServer(
            Console console, InetSocketAddress address, @Nullable String token, List<String> hosts, Duration patience)
            throws IOException {
        this.console = console;
        guard = new Guard(address, token, hosts);
        AtomicInteger serial = new AtomicInteger();
        // A request that finds no thread waits for one, instead of being refused.
        threads = new ThreadPoolExecutor(
                MOST_THREADS, MOST_THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread made = new Thread(task, "lockstep-console-http-" + serial.incrementAndGet());
                    made.setDaemon(true);
                    return made;
                });
        threads.allowCoreThreadTimeOut(true);
        http = HttpServer.create(address, 0);
        clients = new SlowClients(patience);
        http.setExecutor(task -> threads.execute(() -> clients.serve(task)));
        http.createContext("/", this::handle);
        http.start();
    }

    URI uri() {
        InetSocketAddress bound = http.getAddress();
        String host = bound.getAddress().isAnyLocalAddress() ? "localhost" : Guard.literal(bound);
        return URI.create("http://" + host + ":" + bound.getPort() + "/");
    }

    private void handle(HttpExchange exchange) {
        try (exchange) {
            Headers headers = exchange.getResponseHeaders();
            headers.set("Content-Security-Policy", CSP);
            headers.set("X-Content-Type-Options", "nosniff");
            headers.set("X-Frame-Options", "DENY");
            headers.set("Referrer-Policy", "no-referrer");
            headers.set("Cross-Origin-Opener-Policy", "same-origin");
            headers.set("Cross-Origin-Resource-Policy", "same-origin");
            headers.set("Cache-Control", "no-store");
            answer(exchange);
        } catch (IOException e) {
            LOG.debug("a browser went away", e);
        } catch (RuntimeException e) {
            LOG.warn("the console failed to answer a request", e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String method = exchange.getRequestMethod();
        Console.Page refusal = guard.refusal(method, exchange.getRequestHeaders()::getFirst);
        if (refusal != null) {
            if (refusal.status() == 401) {
                exchange.getResponseHeaders()
                        .set("WWW-Authenticate", "Basic realm=\"Lockstep console\", charset=\"UTF-8\"");
            }
            send(exchange, refusal);
            return;
        }
        String path = exchange.getRequestURI().getPath().substring(1);
        switch (method) {
            case "GET", "HEAD" -> {
                if (path.equals("api/stream") && method.equals("GET")) {
                    stream(exchange);
                } else {
                    clients.pause();
                    send(
                            exchange,
                            console.read(
                                    path, parameters(exchange.getRequestURI().getRawQuery())));
                }
            }
            case "POST" -> send(exchange, path.equals("api/release") ? release(exchange) : notAllowed(exchange));
            default -> send(exchange, notAllowed(exchange));
        }
    }

    private static Console.Page notAllowed(HttpExchange exchange) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        return Console.Page.error(405, "not allowed here");
    }

    private Console.Page release(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(LONGEST_BODY + 1);
        if (body.length > LONGEST_BODY) {
            return Console.Page.error(413, "too long");
        }
        Map<String, String> form = parameters(new String(body, StandardCharsets.UTF_8));
        long token = Console.number(form.get("token"), 0L); // 0 is refused
        String user = Guard.user(exchange.getRequestHeaders().getFirst("Authorization"));
        clients.pause();
        return console.release(
                new Console.Release(
                        form.getOrDefault("namespace", ""),
                        form.getOrDefault("name", ""),
                        form.getOrDefault("confirmation", ""),
                        token,
                        form.getOrDefault("reason", "")),
                exchange.getRemoteAddress() + (user.isEmpty() ? "" : ", as " + user));
    }

    /** Sends the number of each new sample; the browser then asks for what it shows. */
    private void stream(HttpExchange exchange) throws IOException {
        clients.pause();
        if (streams.incrementAndGet() > MOST_STREAMS) {
            streams.decrementAndGet();
            send(exchange, Console.Page.error(503, "too many browsers"));
            return;
        }
        try {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream;charset=utf-8");
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            long sent = -1;
            while (!console.poller().isClosed()) {
                Sample sample = console.poller().await(sent, HEARTBEAT);
                String text = sample.version() > sent ? "data: " + sample.version() + "\n\n" : ": still here\n\n";
                sent = sample.version();
                clients.resume();
                out.write(text.getBytes(StandardCharsets.UTF_8));
                out.flush();
                clients.pause();
            }
        } finally {
            streams.decrementAndGet();
        }
    }

    /** How many browsers read a stream. */
    int streams() {
        return streams.get();
    }

    private void send(HttpExchange exchange, Console.Page page) throws IOException {
        clients.resume();
        exchange.getResponseHeaders().set("Content-Type", page.type());
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(page.status(), head || page.body().length == 0 ? -1 : page.body().length);
        if (!head) {
            exchange.getResponseBody().write(page.body());
        }
    }

    static Map<String, String> parameters(@Nullable String query) {
        Map<String, String> found = new HashMap<>();
        if (query == null || query.isEmpty()) {
            return found;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            try {
                String key = URLDecoder.decode(equals < 0 ? pair : pair.substring(0, equals), StandardCharsets.UTF_8);
                String value = equals < 0 ? "" : URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8);
                found.put(key, value);
            } catch (IllegalArgumentException e) {
                // A parameter that cannot be read is one that was not sent.
            }
        }
        return found;
    }

    @Override
    public void close() {
        http.stop(0);
        threads.shutdownNow();
        clients.close();
    }
}
