package dev.lockstep.etcd;

import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.util.Set;

/**
 * Announces {@code etcd://[user:password@]host[:port][,host[:port]…]}, and {@code etcds://} with TLS, whose options are
 * {@code ca}, {@code cert} and {@code key}: paths of PEM files. {@code passwordFile} is the path of
 * a file with the password, which is read at each login. Special characters in a URL are percent-encoded.
 */
public final class EtcdProvider implements BackendProvider {
    /** Made by {@link java.util.ServiceLoader}. */
    public EtcdProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("etcd", "etcds");
    }

    @Override
    public BackendFactory parse(String url) {
        return new EtcdEngine(Url.parse(url));
    }
}
