package dev.lockstep.console;

import dev.lockstep.LockAdmin;
import dev.lockstep.LockClient;
import dev.lockstep.LockstepException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The console: a web page that shows who holds which lock, who waits, and what blocks whom. It asks the engine at most once a second,
 * whatever number of browsers is open, and at most 5 % of the time.
 *
 * <pre>{@code
 * try (Console console = Console.builder(locks).start(new InetSocketAddress("127.0.0.1", 8620))) {
 *     System.out.println(console.uri());
 *     …
 * }
 * }</pre>
 *
 * <p>{@link Builder#start} listens on a port of its own. {@link Builder#mount} makes one for a service that has its own web server: the
 * service calls {@link #read} and {@link #release}, and decides who may do so.
 *
 * <p>It is read-only unless {@link Builder#allowRelease} was called. Safe for use by many threads.
 */
public final class Console implements AutoCloseable {
    /** The name of the logger to which each attempt to release a lock by force is written, at level INFO. */
    public static final String AUDIT_LOGGER = "dev.lockstep.console.audit";

    private static final int LONGEST_REASON = 500;
    private static final int ROWS = 100;

    private final LockClient client;
    private final @Nullable String namespace;
    private final boolean mayRelease;
    private final boolean mounted;
    private final Poller poller;
    private final Assets assets = new Assets();
    private @Nullable ConsoleServer server;

    private Console(Builder builder, boolean mounted) {
        this.mounted = mounted;
        client = builder.client;
        namespace = builder.namespace;
        mayRelease = builder.release;
        poller = new Poller(client, namespace, builder.interval);
        poller.start();
    }

    /**
     * Starts to configure a console.
     *
     * @param client reaches the engine; it stays open when the console is closed
     * @return a builder with the defaults
     */
    public static Builder builder(LockClient client) {
        return new Builder(client);
    }

    /**
     * Says where the console listens.
     *
     * @return its address for a browser on this machine; empty if it is mounted
     */
    public Optional<URI> uri() {
        return Optional.ofNullable(server).map(ConsoleServer::uri);
    }

    /**
     * Answers a GET request. This never asks the engine, but may wait some seconds for the first answer of the engine.
     *
     * @param path the path below the console's own, without a slash at its beginning: empty for the page itself
     * @param parameters the parameters of the query; unknown ones are ignored
     * @return the answer, with status 404 for an unknown path
     */
    public Page read(String path, Map<String, String> parameters) {
        boolean first = path.isEmpty() || path.equals(Assets.INDEX);
        Page file = mounted && first ? assets.mounted("") : assets.page(path);
        if (file != null) {
            return file;
        }
        String prefix = parameters.getOrDefault("prefix", "");
        String wanted = parameters.getOrDefault("namespace", "");
        Views views = new Views(poller.watch());
        Map<String, Object> view = views.frame(mayRelease);
        switch (path) {
            case "api/now" -> {
                view.putAll(views.blockers(wanted, prefix));
                view.put(
                        "locks",
                        views.locks(
                                wanted,
                                prefix,
                                parameters.getOrDefault("sort", ""),
                                number(parameters.get("limit"), ROWS)));
            }
            case "api/lock" -> {
                Located.Key key = new Located.Key(wanted, parameters.getOrDefault("name", ""));
                view.put("lock", views.lock(key, poller.changes().of(key)));
            }
            case "api/clients" -> view.put("clients", views.clients(prefix));
            case "api/graph" -> view.putAll(views.groups());
            case "api/heat" -> view.put("heat", Views.heat(poller.heat()));
            case "api/history" -> {
                long at = number(parameters.get("at"), -1L);
                view.put("history", Views.history(poller.history(), at < 0 ? null : Instant.ofEpochMilli(at)));
            }
            default -> {
                return Page.error(404, "not found");
            }
        }
        return Page.json(200, view);
    }

    /**
     * Makes the first page for a mounted console, whose browser asks again and again in place of a stream of events.
     *
     * @param base where {@link #read} is served, relative to the address of this page and with a slash at its end, such as
     *     {@code "console/"}
     * @return the page
     * @throws IllegalArgumentException if the base has characters other than letters, digits and {@code / _ . -}
     */
    public Page index(String base) {
        return assets.mounted(base);
    }

    /**
     * Releases the lock of one holder by force. Writes the attempt to the logger {@link #AUDIT_LOGGER}, whatever the result.
     *
     * @param request what to release, and why
     * @param by the user that asks, for the log
     * @return the answer: 200 with {@code released} true or false, 400 if the request is incomplete, 403 if releases are not allowed,
     *     503 if the engine did not answer
     */
    public Page release(Release request, String by) {
        Page refusal = refusal(request);
        if (refusal != null) {
            Audit.write(request, "refused", by);
            return refusal;
        }
        String outcome = "failed";
        try {
            LockAdmin admin = client.admin(request.namespace());
            boolean released = admin.forceRelease(request.name(), request.token());
            outcome = released ? "released" : "nothing to release";
            poller.lookSoon();
            return Page.json(200, Map.of("released", released));
        } catch (LockstepException e) {
            return Page.error(503, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            return Page.error(400, String.valueOf(e.getMessage()));
        } finally {
            Audit.write(request, outcome, by);
        }
    }

    /** Why a lock is not to be released; null if the engine is to be asked. */
    private @Nullable Page refusal(Release request) {
        if (!mayRelease) {
            return Page.error(403, "force release is disabled: start the console with --allow-release");
        }
        if (!request.name().equals(request.confirmation()) || request.name().isEmpty()) {
            return Page.error(400, "the name that was typed is not the lock's");
        }
        if (request.reason().isBlank() || request.reason().length() > LONGEST_REASON) {
            return Page.error(400, "a reason of 1 to " + LONGEST_REASON + " characters is needed");
        }
        if (request.token() <= 0) {
            return Page.error(400, "a token is needed");
        }
        if (namespace != null && !namespace.equals(request.namespace())) {
            return Page.error(400, "the console shows namespace '" + namespace + "' alone");
        }
        return null;
    }

    Poller poller() {
        return poller;
    }

    int streams() {
        return server == null ? 0 : server.streams();
    }

    /** Stops to listen and to look. The client stays open. */
    @Override
    public void close() {
        poller.close();
        if (server != null) {
            server.close();
        }
    }

    private static int number(@Nullable String text, int otherwise) {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, number(text, (long) otherwise)));
    }

    static long number(@Nullable String text, long otherwise) {
        try {
            return text == null ? otherwise : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /**
     * A request to release a lock by force.
     *
     * @param namespace the lock's namespace
     * @param name the lock's name
     * @param confirmation the lock's name, as the operator typed it
     * @param token identifies the grant, see {@link LockAdmin#forceRelease(String, long)}
     * @param reason why, for the log
     */
    public record Release(String namespace, String name, String confirmation, long token, String reason) {}

    /** An answer to a browser. Its body is not copied: do not change it. */
    public static final class Page {
        private final int status;
        private final String type;
        private final byte[] body;

        Page(int status, String type, byte[] body) {
            this.status = status;
            this.type = type;
            this.body = body;
        }

        static Page json(int status, Map<String, ?> view) {
            return new Page(
                    status, "application/json;charset=utf-8", Json.write(view).getBytes(StandardCharsets.UTF_8));
        }

        static Page error(int status, String message) {
            Map<String, Object> view = new LinkedHashMap<>();
            view.put("error", message);
            return json(status, view);
        }

        /**
         * Returns the HTTP status.
         *
         * @return the status
         */
        public int status() {
            return status;
        }

        /**
         * Returns the content type.
         *
         * @return the type
         */
        public String type() {
            return type;
        }

        /**
         * Returns the content.
         *
         * @return the bytes
         */
        public byte[] body() {
            return body;
        }
    }

    /** Configures a console. Not safe for use by many threads. */
    public static final class Builder {
        private final LockClient client;
        private @Nullable String namespace;
        private Duration interval = Duration.ofSeconds(1);
        private boolean release;
        private @Nullable String token;
        private final List<String> hosts = new ArrayList<>();

        private Builder(LockClient client) {
            this.client = Objects.requireNonNull(client, "client");
        }

        /**
         * Shows one namespace. Without this, all namespaces of the engine are shown.
         *
         * @param namespace the namespace
         * @return this
         */
        public Builder namespace(String namespace) {
            this.namespace = Objects.requireNonNull(namespace, "namespace");
            return this;
        }

        /**
         * Sets how often the engine is asked; it is asked less often if its answers take long.
         *
         * @param interval a second or more; a second if not set
         * @return this
         * @throws IllegalArgumentException if it is less than a second or more than an hour
         */
        public Builder interval(Duration interval) {
            if (interval.compareTo(Duration.ofSeconds(1)) < 0 || interval.compareTo(Duration.ofHours(1)) > 0) {
                throw new IllegalArgumentException("the interval must be from a second to an hour, not " + interval);
            }
            this.interval = interval;
            return this;
        }

        /**
         * Lets operators release locks by force.
         *
         * @return this
         */
        public Builder allowRelease() {
            release = true;
            return this;
        }

        /**
         * Sets the token that a browser must present, as the password of HTTP Basic authentication (with any user name) or as a bearer
         * token. Addresses other than loopback need one.
         *
         * @param token 16 characters or more
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public Builder token(String token) {
            if (token.strip().length() < 16) {
                throw new IllegalArgumentException("the console's token must have 16 characters or more");
            }
            this.token = token.strip();
            return this;
        }

        /**
         * Names a host under which browsers reach the console, such as that of a reverse proxy. Requests for other hosts are refused,
         * except for the address itself and loopback.
         *
         * @param host the host, without a port
         * @return this
         */
        public Builder hostName(String host) {
            hosts.add(Objects.requireNonNull(host, "host"));
            return this;
        }

        /**
         * Makes a console for a service that serves it itself, and decides who may see it.
         *
         * @return the console; close it
         */
        public Console mount() {
            return new Console(this, true);
        }

        /**
         * Starts a console that listens.
         *
         * @param address where; port 0 for any
         * @return the console; close it
         * @throws IllegalStateException if the address is not loopback and there is no token
         * @throws IOException if it cannot listen there
         */
        public Console start(InetSocketAddress address) throws IOException {
            if (address.isUnresolved()) {
                throw new IOException("unknown host: " + address.getHostString());
            }
            if (!address.getAddress().isLoopbackAddress() && token == null) {
                throw new IllegalStateException("the console needs a token to listen on " + address.getHostString()
                        + ", which is not a loopback address");
            }
            Console console = new Console(this, false);
            try {
                console.server = new ConsoleServer(console, address, token, hosts, ConsoleServer.PATIENCE);
                return console;
            } catch (IOException | RuntimeException e) {
                console.close();
                throw e;
            }
        }
    }
}
