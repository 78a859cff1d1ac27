package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One member of etcd. Thread-safe. */
public final class EtcdServer extends ServerProcess {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    /** Ends a request that would hang; a healthy server answers sooner, on a busy machine too. */
    private static final int ANSWER_MILLIS = 20_000;

    /** How soon a probe is given up and repeated. The start fails only when {@code START_TIMEOUT} is over. */
    private static final int PROBE_MILLIS = 1_000;

    private final Program program;
    private final int metricsPort = FreePorts.next();
    private final List<String> arguments = new ArrayList<>();
    private final String url;
    private final @Nullable SocksGate gate;

    /**
     * A member with a name.
     *
     * @param cluster a map of members' names to the ports they talk to each other on
     * @param ways from the others' ports to those that lead this member there, or null if it dials them itself
     */
    private EtcdServer(
            Builder builder, String name, Map<String, Integer> cluster, @Nullable Map<Integer, Integer> ways) {
        super(name, FreePorts.next(), START_TIMEOUT);
        program = builder.source.get();
        url = (builder.certificates == null ? "http://" : "https://") + address();
        String peers = "http://" + (ways == null ? HOST : SocksGate.HOST) + ":";
        String members = cluster.entrySet().stream()
                .map(member -> member.getKey() + "=" + peers + member.getValue())
                .collect(Collectors.joining(","));
        flag("name", name);
        flag("data-dir", directory().resolve("data").toString());
        flag("listen-client-urls", url);
        flag("advertise-client-urls", url);
        flag("listen-peer-urls", "http://" + HOST + ":" + cluster.get(name));
        flag("initial-advertise-peer-urls", peers + cluster.get(name));
        flag("initial-cluster", members);
        flag("listen-metrics-urls", "http://" + HOST + ":" + metricsPort);
        flag("logger", "zap");
        TestCertificates certificates = builder.certificates;
        if (certificates != null) {
            flag("cert-file", certificates.serverCertificate().toString());
            flag("key-file", certificates.serverKey().toString());
        }
        if (certificates != null && builder.clientCertificates) {
            flag("trusted-ca-file", certificates.caCertificate().toString());
            flag("client-cert-auth", "true");
        }
        builder.flags.forEach(this::flag);
        gate = ways == null ? null : SocksGate.open(ways);
    }

    private void flag(String name, String value) {
        arguments.add("--" + name + "=" + value);
    }

    /**
     * A server to be.
     *
     * @return a builder for a member without TLS
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Where clients connect.
     *
     * @return {@code http://127.0.0.1:port}, or {@code https}
     */
    public String url() {
        return url;
    }

    /**
     * The server's own counters, without TLS.
     *
     * @return the text of its metrics page
     * @throws ServerException if the server does not answer
     */
    public String metrics() {
        try {
            return get("/metrics", ANSWER_MILLIS);
        } catch (IOException e) {
            throw new ServerException(this + ": metrics", e);
        }
    }

    /**
     * The sum of one counter or gauge over all its labels that contain some text.
     *
     * @param name as {@code grpc_server_started_total}
     * @param label text in the labels, as {@code grpc_method="Txn"}; nothing for all
     * @return the sum; 0 if there is none
     */
    public double metric(String name, String label) {
        return metrics()
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .filter(line -> line.contains(label))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    /**
     * Returns whether it leads its cluster now.
     *
     * @return whether it is the leader
     */
    public boolean isLeader() {
        return metric("etcd_server_is_leader", "") == 1;
    }

    @Override
    Launch launch() {
        Map<String, String> environment = new LinkedHashMap<>(program.environment());
        if (System.getProperty("os.arch").equals("aarch64")) {
            environment.put("ETCD_UNSUPPORTED_ARCH", "arm64"); // etcd 3.4 does not start there without
        }
        if (gate != null) {
            environment.put("HTTP_PROXY", "socks5://" + HOST + ":" + gate.port());
            environment.put("NO_PROXY", ""); // whatever this machine's user has excepted
            environment.put("no_proxy", "");
        }
        return new Launch(Launch.of(program, arguments).command(), environment, false);
    }

    @Override
    boolean isReady() throws IOException {
        return get("/health", PROBE_MILLIS).contains("\"true\"");
    }

    /** Kills it, deletes its folder and closes its gate. */
    @Override
    public synchronized void close() {
        super.close();
        if (gate != null) {
            gate.close();
        }
    }

    private String get(String path, int timeoutMillis) throws IOException {
        URLConnection connection = new URL("http", HOST, metricsPort, path).openConnection();
        connection.setConnectTimeout(timeoutMillis);
        connection.setReadTimeout(timeoutMillis);
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The settings of an etcd member, or of each member of a cluster. */
    public static final class Builder {
        private final Map<String, String> flags = new LinkedHashMap<>();
        private @Nullable TestCertificates certificates;
        private boolean clientCertificates;
        private Supplier<Program> source = () -> Program.find("etcd", "etcd-server");

        private Builder() {}

        /**
         * Takes etcd 3.5, from Debian's newest suite.
         *
         * @return this
         */
        public Builder version35() {
            source = () -> Program.newest("etcd", "etcd-server");
            return this;
        }

        /**
         * Asks clients for TLS.
         *
         * @param serverCertificates the server's certificate and key
         * @return this
         */
        public Builder tls(TestCertificates serverCertificates) {
            certificates = serverCertificates;
            return this;
        }

        /**
         * Asks clients for TLS and for a certificate of the same authority.
         *
         * @param bothCertificates the server's certificate and key, and the authority to trust
         * @return this
         */
        public Builder mutualTls(TestCertificates bothCertificates) {
            clientCertificates = true;
            return tls(bothCertificates);
        }

        /**
         * Sets any flag of the command line.
         *
         * @param name its name, without dashes
         * @param value its value
         * @return this
         */
        public Builder flag(String name, String value) {
            flags.put(name, value);
            return this;
        }

        /**
         * Starts a single member.
         *
         * @return the running server
         * @throws ServerUnavailableException if there is no etcd here
         * @throws ServerException if it does not start
         */
        public EtcdServer start() {
            return startCluster(1).get(0);
        }

        /**
         * Starts a cluster.
         *
         * @param size how many members; three survive the loss of one
         * @return the running cluster, with a leader
         * @throws ServerUnavailableException if there is no etcd here
         * @throws ServerException if it does not start
         */
        public ServerGroup<EtcdServer> startCluster(int size) {
            Map<String, Integer> cluster = cluster(size);
            List<EtcdServer> members = new ArrayList<>();
            cluster.keySet().forEach(name -> members.add(new EtcdServer(this, name, cluster, null)));
            return ServerGroup.started(members);
        }

        /**
         * Starts a cluster whose members may have something in between, so that they can be cut off from each other.
         *
         * @param size how many members; three survive the loss of one
         * @param links the ways from each member to each other one
         * @return the running cluster, with a leader
         * @throws ServerUnavailableException if there is no etcd here
         * @throws ServerException if it does not start
         */
        public ServerGroup<EtcdServer> startCluster(int size, ServerGroup.Links links) {
            Map<String, Integer> cluster = cluster(size);
            List<Integer> ports = List.copyOf(cluster.values());
            List<EtcdServer> members = new ArrayList<>();
            for (String name : cluster.keySet()) {
                int from = members.size();
                Map<Integer, Integer> ways = new LinkedHashMap<>();
                for (int to = 0; to < size; to++) {
                    if (to != from) {
                        ways.put(ports.get(to), links.port(from, to, ports.get(to)));
                    }
                }
                members.add(new EtcdServer(this, name, cluster, ways));
            }
            return ServerGroup.started(members);
        }

        private static Map<String, Integer> cluster(int size) {
            Map<String, Integer> cluster = new LinkedHashMap<>();
            for (int i = 0; i < size; i++) {
                cluster.put("etcd" + i, FreePorts.next());
            }
            return cluster;
        }
    }
}
