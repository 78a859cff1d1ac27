package dev.lockstep.servers;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** One Redis server. Without persistence unless asked for: a restart then forgets everything. Thread-safe. */
public final class RedisServer extends ServerProcess {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    private static final String OFFSET = "master_repl_offset:";

    private final Program program;
    private final List<String> arguments = new ArrayList<>();
    private final @Nullable String password;
    private final @Nullable SSLContext tls;

    private RedisServer(Builder builder) {
        this("redis", builder.source.get(), builder.password, builder.certificates);
        arguments.addAll(List.of("--port", Integer.toString(tls == null ? port() : 0), "--bind", HOST));
        arguments.addAll(List.of("--tls-port", Integer.toString(tls == null ? 0 : port())));
        arguments.addAll(List.of("--dir", directory().toString(), "--save", ""));
        arguments.addAll(List.of("--repl-diskless-sync-delay", "0"));
        arguments.addAll(builder.arguments);
        if (builder.host != null) {
            runOn(builder.host);
        }
    }

    private RedisServer(
            String name, Program program, @Nullable String password, @Nullable TestCertificates certificates) {
        super(name, FreePorts.next(), START_TIMEOUT);
        this.program = program;
        this.password = password;
        this.tls = certificates == null ? null : certificates.clientContext();
    }

    /** A Sentinel that is not started yet; it is a Redis server in another role, with a file that it rewrites. */
    static RedisServer sentinel(List<String> directives) {
        RedisServer sentinel = new RedisServer("sentinel", newest(), null, null);
        List<String> lines = new ArrayList<>(List.of("port " + sentinel.port(), "bind " + HOST));
        lines.add("dir " + sentinel.directory());
        lines.addAll(directives);
        sentinel.arguments.add(sentinel.write("sentinel.conf", lines).toString());
        sentinel.arguments.add("--sentinel");
        return sentinel;
    }

    private static Program newest() {
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
            throw new ServerException(this + ": " + words[0] + ": " + e.getMessage(), e);
        }
    }

    /**
     * One line of the {@code INFO} report.
     *
     * @param name as {@code role}, {@code master_link_status} or {@code cmdstat_get}
     * @return its value; nothing if there is none of that name
     */
    public String info(String name) {
        return command("INFO", "everything")
                .lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1))
                .findFirst()
                .orElse("");
    }

    /**
     * The URL of the server, without user and password.
     *
     * @return {@code redis://127.0.0.1:port}, or {@code rediss}
     */
    public String url() {
        return (tls == null ? "redis://" : "rediss://") + address();
    }

    /**
     * Waits until a replica has all that its primary has, so that nothing is copied under the first test. The primary hears
     * of that a little later, and before does not count what the replica confirms.
     */
    void awaitLink() {
        Await.until(
                this + " follows its primary",
                START_TIMEOUT,
                () -> info("master_link_status").equals("up") && isOnlineAt(Integer.parseInt(info("master_port"))));
        // It may be sent nothing before it has confirmed what it loaded, once in a second. In a cluster nobody can ask
        // like this.
        int primaryPort = Integer.parseInt(info("master_port"));
        long[] said = {-1};
        Await.until(this + " hears of its primary", START_TIMEOUT, () -> {
            if (said[0] < 0) {
                exchange(primaryPort, "PUBLISH", "lockstep-servers", "hello");
                said[0] = offset(exchange(primaryPort, "INFO", "replication"));
            }
            return offset(command("INFO", "replication")) >= said[0];
        });
    }

    private static long offset(String replication) {
        return replication
                .lines()
                .filter(line -> line.startsWith(OFFSET))
                .mapToLong(
                        line -> Long.parseLong(line.substring(OFFSET.length()).trim()))
                .findFirst()
                .orElse(0);
    }

    private boolean isOnlineAt(int primaryPort) {
        try {
            return exchange(primaryPort, "INFO", "replication").contains(",port=" + port() + ",state=online");
        } catch (IOException e) {
            return false;
        }
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
        return exchange(port(), words);
    }

    private String exchange(int port, String... words) throws IOException {
        try (RedisWire wire = new RedisWire(port, tls)) {
            if (password != null) {
                wire.command("AUTH", password);
            }
            return wire.command(words);
        }
    }

    /** The settings of a Redis server, or of each server of a group. */
    public static final class Builder {
        private final List<String> arguments = new ArrayList<>();
        private @Nullable String password;
        private @Nullable TestCertificates certificates;
        private Supplier<Program> source = RedisServer::newest;
        private @Nullable HostFaults host;
        private boolean replica;

        private Builder() {}

        /**
         * Takes the oldest Redis that locks must work on, from the jar {@code com.github.codemonstur:embedded-redis}, which
         * must be on the class path. If the environment variable {@code LOCKSTEP_REDIS_SERVER} names another server,
         * takes that.
         *
         * @return this
         */
        public Builder version62() {
            return from(() -> Program.chosen("redis-server").orElseGet(Redis62::program));
        }

        /**
         * Takes Redis 8, from Debian's newest suite.
         *
         * @return this
         */
        public Builder redis8() {
            return from(() -> Program.newest("redis-server", "redis-server", "redis-tools"));
        }

        /**
         * Takes Valkey 9, from Debian's newest suite.
         *
         * @return this
         */
        public Builder valkey9() {
            return from(() -> Program.newest("valkey-server", "valkey-server", "valkey-tools"));
        }

        Builder from(Supplier<Program> programs) {
            source = programs;
            return this;
        }

        /**
         * Runs it on a machine whose clock and disk can be spoilt.
         *
         * @param machine to be closed after the server
         * @return this
         */
        public Builder on(HostFaults machine) {
            host = machine;
            return this;
        }

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
         * Serves TLS only. Clients need no certificate unless {@code tls-auth-clients} is set.
         *
         * @param serverCertificates the server's certificate and key, and the authority to trust
         * @return this
         */
        public Builder tls(TestCertificates serverCertificates) {
            certificates = serverCertificates;
            return setting(
                            "tls-cert-file",
                            serverCertificates.serverCertificate().toString())
                    .setting("tls-key-file", serverCertificates.serverKey().toString())
                    .setting(
                            "tls-ca-cert-file",
                            serverCertificates.caCertificate().toString())
                    .setting("tls-auth-clients", "no")
                    .setting("tls-replication", "yes")
                    .setting("tls-cluster", "yes");
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
         * Makes it a replica. It counts as started once it follows its primary.
         *
         * @param primaryPort the primary's loopback port, or that of a proxy in front of it
         * @return this
         */
        public Builder replicaOf(int primaryPort) {
            replica = true;
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
            RedisServer server = ServerProcess.started(new RedisServer(this));
            if (replica) {
                ServerProcess.orClose(server, server::awaitLink);
            }
            return server;
        }

        /**
         * Starts a primary with replicas and Sentinels that watch over them. Not with TLS.
         *
         * @param replicas how many replicas
         * @param sentinels how many Sentinels; a majority of them decides
         * @return the running set-up, in which everybody knows everybody
         * @throws ServerUnavailableException if there is no Redis here
         * @throws ServerException if it does not start
         */
        public RedisSentinels startSentinels(int replicas, int sentinels) {
            List<RedisServer> servers = new ArrayList<>(List.of(new RedisServer(this)));
            for (int i = 0; i < replicas; i++) {
                servers.add(new RedisServer(copy().replicaOf(servers.get(0).port())));
            }
            return RedisSentinels.start(servers, sentinels, password);
        }

        /**
         * Starts a cluster in which each primary has an equal part of the slots. A node that does not answer for two
         * seconds is taken for dead.
         *
         * @param primaries how many primaries, at least three
         * @param replicasEach how many replicas of each primary
         * @return the running cluster, all of its slots served
         * @throws ServerUnavailableException if there is no Redis here
         * @throws ServerException if it does not start
         */
        public RedisCluster startCluster(int primaries, int replicasEach) {
            List<RedisServer> nodes = new ArrayList<>();
            for (int i = 0; i < primaries * (1 + replicasEach); i++) {
                Builder node = copy().setting("cluster-enabled", "yes").setting("cluster-node-timeout", "2000");
                nodes.add(new RedisServer(node));
            }
            return RedisCluster.start(nodes, primaries);
        }

        private Builder copy() {
            Builder copy = new Builder();
            copy.arguments.addAll(arguments);
            copy.password = password;
            copy.certificates = certificates;
            copy.source = source;
            copy.host = host;
            return copy;
        }
    }
}
