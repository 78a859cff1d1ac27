package dev.lockstep.zookeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.security.auth.login.Configuration;

/** The login configuration of this JVM, with which its clients log in by SASL, until it is closed. */
final class Logins implements AutoCloseable {
    private final Path file;

    /** Begins with none, as where only something else than ZooKeeper logs in. */
    Logins(Path folder) throws IOException {
        file = folder.resolve("jaas.conf");
        System.setProperty("java.security.auth.login.config", file.toString());
        System.setProperty("zookeeper.fips-mode", "false"); // which would allow no passwords
        clear();
    }

    /** Has one context from now on: the user {@code orders} with a password. */
    Logins set(String context, String password) throws IOException {
        write(context + " { " + module(password) + " };\n");
        return this;
    }

    /** Has no context for ZooKeeper from now on. */
    void clear() throws IOException {
        write("Other { " + module("none") + " };\n");
    }

    private static String module(String password) {
        return "org.apache.zookeeper.server.auth.DigestLoginModule required username=\"orders\" password=\"" + password
                + "\";";
    }

    private void write(String contexts) throws IOException {
        Files.writeString(file, contexts);
        Configuration.getConfiguration().refresh();
    }

    @Override
    public void close() {
        System.clearProperty("java.security.auth.login.config");
        System.clearProperty("zookeeper.fips-mode");
        Configuration.setConfiguration(null);
    }
}
