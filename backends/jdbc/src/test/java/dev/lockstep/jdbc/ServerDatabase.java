package dev.lockstep.jdbc;

import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.Capability;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/** A database that is a server of its own. */
record ServerDatabase(SqlServer server, String user, String password, Set<Capability> capabilities)
        implements SqlFixture.Database {
    @Override
    public String url() {
        return url(server.port());
    }

    @Override
    public String url(int port) {
        return withUser(server.jdbcUrl(port), user, password);
    }

    /** A URL with user and password. */
    static String withUser(String url, String user, String password) {
        return url + (url.contains("?") ? '&' : '?') + "user=" + user + "&password="
                + URLEncoder.encode(password, StandardCharsets.UTF_8);
    }

    @Override
    public int port() {
        return server.port();
    }

    @Override
    public void restart() {
        server.restart();
    }

    @Override
    public List<String> malformedUrls() {
        String scheme = server.jdbcUrl().split(":")[1];
        return List.of(
                "jdbc:",
                "jdbc:" + scheme,
                "jdbc:oracle:thin:user/s3cret@localhost:1521/x",
                "jdbc:" + scheme + "://user:s3cret@localhost/db?lockstep.poolSize=many",
                "jdbc:" + scheme + "://localhost/db?user=u&password=s3cret&lockstep.nonsense=1");
    }
}
