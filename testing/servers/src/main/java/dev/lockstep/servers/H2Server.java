package dev.lockstep.servers;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One H2 database behind H2's own server, in a JVM of its own, from the jar on this JVM's class path. Committed data
 * survives a killed process: it does not delay writes, as H2 does by default. Thread-safe.
 */
public final class H2Server extends SqlServer {
    /** Ends a start that would hang. A start takes a few seconds at most, on a busy machine some more. */
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    /** How soon a probe is given up and repeated. The start fails only when {@code START_TIMEOUT} is over. */
    private static final int PROBE_MILLIS = 1_000;

    private static final String MAIN = "org.h2.tools.Server";

    private H2Server() {
        super("h2", "h2:tcp", ";DB_CLOSE_DELAY=-1;WRITE_DELAY=0", START_TIMEOUT);
        try {
            Class.forName(MAIN, false, H2Server.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new ServerUnavailableException("com.h2database:h2 is not on the class path", e);
        }
    }

    /**
     * A server to be.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    Launch launch() {
        return new Launch(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Dh2.implicitRelativePath=true",
                        "-cp",
                        System.getProperty("java.class.path"),
                        MAIN,
                        "-tcp",
                        "-tcpPort",
                        Integer.toString(port()),
                        "-ifNotExists",
                        "-baseDir",
                        directory().toString()),
                Map.of(),
                false);
    }

    @Override
    boolean isReady() throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(FreePorts.address(port()), PROBE_MILLIS);
            return true;
        }
    }

    /** The settings of an H2 server. */
    public static final class Builder {
        private @Nullable HostFaults host;

        private Builder() {}

        /**
         * Runs it on a machine whose clock a test can spoil.
         *
         * @param itsHost the machine
         * @return this
         */
        public Builder on(HostFaults itsHost) {
            host = itsHost;
            return this;
        }

        /**
         * Starts it. The first who connects to its database makes it, and is its administrator.
         *
         * @return the running server
         * @throws ServerUnavailableException if its jar is not on the class path
         * @throws ServerException if it does not start
         */
        public H2Server start() {
            H2Server server = new H2Server();
            if (host != null) {
                server.runOn(host);
            }
            return ServerProcess.started(server);
        }
    }
}
