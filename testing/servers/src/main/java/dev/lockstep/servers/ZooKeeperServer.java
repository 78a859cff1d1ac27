package dev.lockstep.servers;

import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One ZooKeeper server in a JVM of its own, from the jars on this JVM's class path. Its tick is 200 ms, so that sessions
 * of 0.4 to 60 s are possible. It does not wait for the disk unless asked to, which only a crash of the whole machine would
 * show. Thread-safe.
 */
public final class ZooKeeperServer extends ServerProcess {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    private static final int TICK_MILLIS = 200;

    /** Ends a request that would hang; a healthy server answers sooner, on a busy machine too. */
    private static final int ANSWER_MILLIS = 20_000;

    /**
     * A connection that is made in the wrong moment of the start is never answered: better try another one soon. But a busy
     * machine takes its time to answer, so each has more time than the last.
     */
    private static final int PROBE_MILLIS = 300;

    private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    private static final String VARIABLE = "LOCKSTEP_ZOOKEEPER";
    private static final String DIGEST_LOGIN = "org.apache.zookeeper.server.auth.DigestLoginModule";
    private static final List<String> NEEDED =
            List.of(MAIN, "com.codahale.metrics.Counter", "org.xerial.snappy.Snappy");

    private final int securePort = FreePorts.next();
    private final String classPath;
    private final Path configuration;
    private final List<String> jvmOptions;
    private volatile int probeMillis = PROBE_MILLIS;

    private ZooKeeperServer(Builder builder, Map<String, String> more) {
        super("zookeeper", FreePorts.next(), START_TIMEOUT);
        classPath = classPath(System::getenv);
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("dataDir", directory().toString());
        settings.put("clientPortAddress", HOST);
        settings.put("clientPort", Integer.toString(port()));
        settings.put("tickTime", Integer.toString(TICK_MILLIS));
        settings.put("maxSessionTimeout", "60000");
        settings.put("maxClientCnxns", "0");
        settings.put("forceSync", "no");
        settings.put("admin.enableServer", "false");
        settings.put("4lw.commands.whitelist", "*");
        if (builder.certificates != null) {
            settings.put("secureClientPortAddress", HOST);
            settings.put("secureClientPort", Integer.toString(securePort));
        }
        settings.putAll(more);
        settings.putAll(builder.settings);
        jvmOptions = new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        jvmOptions.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=info");
        builder.systemProperties.forEach((key, value) -> jvmOptions.add("-D" + key + "=" + value));
        if (builder.saslUser != null) {
            String login = "Server { " + DIGEST_LOGIN + " required " + builder.saslUser + "; };";
            jvmOptions.add("-Djava.security.auth.login.config=" + write("jaas.conf", List.of(login)));
        }
        List<String> lines = new ArrayList<>();
        settings.forEach((key, value) -> lines.add(key + "=" + value));
        configuration = write("zoo.cfg", lines);
    }

    /** The jars of the server: those in the folder that the environment names, or those of this JVM. */
    static String classPath(UnaryOperator<@Nullable String> environment) {
        String folder = environment.apply(VARIABLE);
        if (folder == null || folder.isEmpty()) {
            requireJars();
            return System.getProperty("java.class.path");
        }
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(Path.of(folder), "zookeeper-*.jar")) {
            if (jars.iterator().hasNext()) {
                return Path.of(folder).toAbsolutePath() + File.separator + "*";
            }
            throw new ServerException("the environment variable " + VARIABLE + " names " + folder
                    + ", which has no zookeeper-VERSION.jar");
        } catch (IOException e) {
            throw new ServerException("the environment variable " + VARIABLE + " names no folder: " + folder, e);
        }
    }

    private static void requireJars() {
        for (String name : NEEDED) {
            try {
                Class.forName(name, false, ZooKeeperServer.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new ServerUnavailableException(
                        name + " is not on the class path: a ZooKeeper server needs org.apache.zookeeper:zookeeper,"
                                + " io.dropwizard.metrics:metrics-core and org.xerial.snappy:snappy-java there",
                        e);
            }
        }
    }

    /**
     * A server to be.
     *
     * @return a builder for a standalone server
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The port for TLS, beside the plain one.
     *
     * @return a loopback port; nothing listens there without {@link Builder#tls}
     */
    public int securePort() {
        return securePort;
    }

    /**
     * Asks for a report with a "four letter word".
     *
     * @param word as {@code srvr}, {@code mntr}, {@code cons}, {@code wchs} or {@code dump}
     * @return the report
     * @throws ServerException if the server does not answer
     */
    public String report(String word) {
        try {
            return ask(word, ANSWER_MILLIS);
        } catch (IOException e) {
            throw new ServerException(this + ": " + word, e);
        }
    }

    /**
     * One number of the {@code mntr} report.
     *
     * @param name as {@code zk_packets_received} or {@code zk_watch_count}
     * @return its value
     * @throws ServerException if there is none of that name
     */
    public long metric(String name) {
        return report("mntr")
                .lines()
                .filter(line -> line.startsWith(name + "\t"))
                .map(line -> (long) Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow(() -> new ServerException("no metric " + name + " on " + this));
    }

    /**
     * Its role in its ensemble.
     *
     * @return {@code standalone}, {@code leader}, {@code follower}, or nothing while it serves nobody
     */
    public String mode() {
        return mode(report("srvr"));
    }

    private static String mode(String report) {
        return report.lines()
                .filter(line -> line.startsWith("Mode: "))
                .map(line -> line.substring("Mode: ".length()))
                .findFirst()
                .orElse("");
    }

    @Override
    Launch launch() {
        probeMillis = PROBE_MILLIS;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", classPath, MAIN, configuration.toString()));
        return new Launch(command, Map.of(), false);
    }

    @Override
    boolean isReady() throws IOException {
        int patience = probeMillis;
        probeMillis = Math.min(patience + PROBE_MILLIS / 2, ANSWER_MILLIS);
        return !mode(ask("srvr", patience)).isEmpty();
    }

    private String ask(String word, int timeoutMillis) throws IOException {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(timeoutMillis);
            socket.connect(FreePorts.address(port()), timeoutMillis);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The settings of a ZooKeeper server, or of each server of an ensemble. */
    public static final class Builder {
        private final Map<String, String> settings = new LinkedHashMap<>();
        private final Map<String, String> systemProperties = new LinkedHashMap<>();
        private @Nullable String saslUser;
        private final List<HostFaults> hosts = new ArrayList<>();
        private @Nullable TestCertificates certificates;

        private Builder() {}

        /**
         * Runs it on a machine whose clock and disk can be spoilt; of an ensemble, each server on the machine at its place.
         * Its log then grows with each write, so that a full disk is noticed.
         *
         * @param machines to be closed after the servers; one, or as many as there are servers
         * @return this
         */
        public Builder on(HostFaults... machines) {
            hosts.addAll(List.of(machines));
            return machines.length == 0 ? this : systemProperty("zookeeper.preAllocSize", "1");
        }

        private ZooKeeperServer make(int place, Map<String, String> more) {
            ZooKeeperServer server = new ZooKeeperServer(this, more);
            if (!hosts.isEmpty()) {
                server.runOn(hosts.get(place % hosts.size()));
            }
            return server;
        }

        /**
         * Sets any key of the configuration file.
         *
         * @param key its name
         * @param value its value
         * @return this
         */
        public Builder setting(String key, String value) {
            settings.put(key, value);
            return this;
        }

        /**
         * Sets a system property of the server's JVM, for what the configuration file cannot say.
         *
         * @param key its name
         * @param value its value
         * @return this
         */
        public Builder systemProperty(String key, String value) {
            systemProperties.put(key, value);
            return this;
        }

        /**
         * Lets a user authenticate by SASL (DIGEST-MD5). ZooKeeper has to be configured to allow that, by
         * {@code zookeeper.fips-mode=false}: the server is, the client must be too.
         *
         * @param name the user's name
         * @param password the user's password
         * @return this
         */
        public Builder saslUser(String name, String password) {
            saslUser = "user_" + name + "=\"" + password + "\"";
            systemProperty("zookeeper.fips-mode", "false");
            return setting("authProvider.sasl", "org.apache.zookeeper.server.auth.SASLAuthenticationProvider");
        }

        /**
         * Serves TLS on {@link #securePort} too. Clients need no certificate unless {@code ssl.clientAuth} is set.
         *
         * @param serverCertificates the server's certificate and key, and the authority to trust
         * @return this
         */
        public Builder tls(TestCertificates serverCertificates) {
            certificates = serverCertificates;
            return setting("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory")
                    .setting(
                            "ssl.keyStore.location",
                            serverCertificates.serverStore().toString())
                    .setting("ssl.keyStore.password", TestCertificates.PASSWORD)
                    .setting(
                            "ssl.trustStore.location",
                            serverCertificates.trustStore().toString())
                    .setting("ssl.trustStore.password", TestCertificates.PASSWORD)
                    .setting("ssl.clientAuth", "none");
        }

        /**
         * Makes writes wait for the disk, as they do in production.
         *
         * @return this
         */
        public Builder durable() {
            return setting("forceSync", "yes");
        }

        /**
         * Starts a standalone server.
         *
         * @return the running server
         * @throws ServerUnavailableException if its jars are not on the class path
         * @throws ServerException if it does not start
         */
        public ZooKeeperServer start() {
            return ServerProcess.started(make(0, Map.of()));
        }

        /**
         * Starts an ensemble.
         *
         * @param size how many servers; three survive the loss of one
         * @return the running ensemble, with a leader
         * @throws ServerUnavailableException if the jars are not on the class path
         * @throws ServerException if it does not start
         */
        public ServerGroup<ZooKeeperServer> startEnsemble(int size) {
            return startEnsemble(size, (from, to, port) -> port);
        }

        /**
         * Starts an ensemble whose servers may have something in between, so that they can be cut off from each other. They
         * elect a leader on ports of their own.
         *
         * @param size how many servers; three survive the loss of one
         * @param links the ways from each server to each other one, if that one leads
         * @return the running ensemble, with a leader
         * @throws ServerUnavailableException if the jars are not on the class path
         * @throws ServerException if it does not start
         */
        public ServerGroup<ZooKeeperServer> startEnsemble(int size, ServerGroup.Links links) {
            int[] quorumPorts =
                    IntStream.range(0, size).map(i -> FreePorts.next()).toArray();
            int[] electionPorts =
                    IntStream.range(0, size).map(i -> FreePorts.next()).toArray();
            List<ZooKeeperServer> servers = new ArrayList<>();
            for (int from = 0; from < size; from++) {
                Map<String, String> members = new LinkedHashMap<>();
                members.put("initLimit", "50");
                members.put("syncLimit", "15");
                for (int to = 0; to < size; to++) {
                    int port = from == to ? quorumPorts[to] : links.port(from, to, quorumPorts[to]);
                    members.put("server." + (to + 1), HOST + ":" + port + ":" + electionPorts[to]);
                }
                ZooKeeperServer server = make(from, members);
                servers.add(server);
                server.write("myid", List.of(Integer.toString(from + 1)));
            }
            return ServerGroup.started(servers);
        }
    }
}
