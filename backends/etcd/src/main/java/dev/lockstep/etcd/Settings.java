package dev.lockstep.etcd;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The settings for reaching a cluster.
 *
 * @param endpoints its members as {@code host:port}, at least one
 * @param tls whether to speak TLS
 * @param authority the certificates to trust; null for those of the JVM
 * @param certificate the client's certificate; null for none
 * @param key the certificate's key; null for none
 * @param user the user to log in as; null for none
 * @param password supplies the user's password, at each login
 */
record Settings(
        List<String> endpoints,
        boolean tls,
        @Nullable Path authority,
        @Nullable Path certificate,
        @Nullable Path key,
        @Nullable String user,
        @Nullable Supplier<String> password) {
    Settings {
        endpoints = List.copyOf(endpoints);
    }

    /** Names the cluster, for messages. */
    @Override
    public String toString() {
        return (tls ? "etcds://" : "etcd://") + String.join(",", endpoints);
    }
}
