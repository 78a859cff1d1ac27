package dev.lockstep.jdbc;

import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.Capability;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/** A database that is a server of its own. */
record ServerDatabase(SqlServer server, Set<Capability> capabilities) implements SqlFixture.Database {
    @Override
    public String url() {
        return url(server.port());
    }

    @Override
    public String url(int port) {
        return withUser(server.jdbcUrl(port));
    }

    /** A URL with user and password. */
    static String withUser(String url) {
        return url + (url.contains("?") ? '&' : '?') + "user=" + SqlServer.USER + "&password="
                + URLEncoder.encode(SqlServer.PASSWORD, StandardCharsets.UTF_8);
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
