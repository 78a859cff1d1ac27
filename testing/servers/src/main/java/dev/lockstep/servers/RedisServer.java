package dev.lockstep.servers;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One Redis server. Without persistence unless asked for: a restart then forgets everything. Thread-safe. */
public final class RedisServer extends ServerProcess {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    private final Program program;
    private final List<String> arguments;
    private final @Nullable String password;

    private RedisServer(Builder builder) {
        super("redis", FreePorts.next(), START_TIMEOUT);
        program = program();
        password = builder.password;
        arguments = new ArrayList<>(List.of("--port", Integer.toString(port()), "--bind", HOST));
        arguments.addAll(List.of("--dir", directory().toString(), "--save", ""));
        arguments.addAll(List.of("--repl-diskless-sync-delay", "0"));
        arguments.addAll(builder.arguments);
    }

    static Program program() {
        return Program.find("redis-server", "redis-server", "redis-tools");
    }

    /**
     * A server to be.
     *
     * @return a builder for a single server without password, TLS or persistence
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Sends one command on a connection of its own, as the default user.
     *
     * @param words the command and its arguments
     * @return the reply as text; an array's elements stand on lines of their own
     * @throws ServerException if the server does not answer or answers with an error
     */
    public String command(String... words) {
        try {
            return exchange(words);
        } catch (IOException e) {
            throw new ServerException(this + ": " + words[0], e);
        }
    }

    /**
     * The URL of the server.
     *
     * @return {@code redis://127.0.0.1:port}
     */
    public String url() {
        return "redis://" + address();
    }

    @Override
    Launch launch() {
        return Launch.of(program, arguments);
    }

    @Override
    boolean isReady() throws IOException {
        return exchange("PING").equals("PONG");
    }

    private String exchange(String... words) throws IOException {
        try (RedisWire wire = new RedisWire(port(), null)) {
            if (password != null) {
                wire.command("AUTH", password);
            }
            return wire.command(words);
        }
    }

    /** What a Redis server shall be like. */
    public static final class Builder {
        private final List<String> arguments = new ArrayList<>();
        private @Nullable String password;

        private Builder() {}

        /**
         * Asks for a password of the default user.
         *
         * @param secret the password
         * @return this
         */
        public Builder password(String secret) {
            password = secret;
            return setting("requirepass", secret).setting("masterauth", secret);
        }

        /**
         * Adds an ACL user.
         *
         * @param rules the user's name and rules, as in {@code alice on >secret ~* &* +@all}
         * @return this
         */
        public Builder user(String rules) {
            return setting("user", rules);
        }

        /**
         * Keeps data over a restart or crash: every write is in the append-only file before it is answered.
         *
         * @return this
         */
        public Builder persistent() {
            return setting("appendonly", "yes").setting("appendfsync", "always");
        }

        /**
         * Makes it a replica.
         *
         * @param primaryPort the primary's loopback port, or that of a proxy in front of it
         * @return this
         */
        public Builder replicaOf(int primaryPort) {
            return setting("replicaof", HOST + " " + primaryPort);
        }

        /**
         * Limits the memory, and says what happens then.
         *
         * @param bytes the limit
         * @param policy the eviction policy, as {@code noeviction} or {@code allkeys-lru}
         * @return this
         */
        public Builder maxMemory(long bytes, String policy) {
            return setting("maxmemory", Long.toString(bytes)).setting("maxmemory-policy", policy);
        }

        /**
         * Sets any directive of the configuration file.
         *
         * @param directive its name
         * @param value its value; words are separated by one space
         * @return this
         */
        public Builder setting(String directive, String value) {
            arguments.add("--" + directive);
            arguments.addAll(List.of(value.split(" ", -1)));
            return this;
        }

        /**
         * Starts it.
         *
         * @return the running server
         * @throws ServerUnavailableException if there is no Redis here
         * @throws ServerException if it does not start
         */
        public RedisServer start() {
            return ServerProcess.started(new RedisServer(this));
        }
    }
}
