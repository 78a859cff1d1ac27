package dev.lockstep.jdbc;

import dev.lockstep.tck.Capability;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on H2: a file, shared by H2's own server so that a second process can use it. */
class ContractH2Test extends SqlContract {
    @TempDir
    static Path folder;

    private static Server server;

    @BeforeAll
    static void startServer() throws SQLException {
        server = start("0");
    }

    private static Server start(String port) throws SQLException {
        return Server.createTcpServer("-tcpPort", port, "-ifNotExists", "-baseDir", folder.toString())
                .start();
    }

    @AfterAll
    static void stopServer() {
        server.stop();
    }

    @Override
    SqlFixture.Database database() {
        return new SqlFixture.Database() {
            @Override
            public String url() {
                return "jdbc:h2:tcp://localhost:" + server.getPort() + "/./locks;DB_CLOSE_DELAY=5";
            }

            @Override
            public Set<Capability> capabilities() {
                return SqlFixture.common(Capability.RESTART_SERVER);
            }

            @Override
            public void restart() {
                String port = Integer.toString(server.getPort());
                server.stop();
                try {
                    server = start(port);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            }

            @Override
            public List<String> malformedUrls() {
                return List.of(
                        "jdbc:h2", "jdbc:h3:mem:x", "jdbc:h2:mem:x;PASSWORD=s3cret;lockstep.createSchema=perhaps");
            }
        };
    }
}
