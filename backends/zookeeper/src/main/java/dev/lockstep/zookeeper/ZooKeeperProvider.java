package dev.lockstep.zookeeper;

import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.util.Set;

/**
 * Serves {@code zookeeper://host:2181,host:2181/chroot}. Used through {@link
 * dev.lockstep.LockClient#connect(String)}; {@link ZooKeeperEngine} describes the URL's options. Safe for use by many
 * threads.
 */
public final class ZooKeeperProvider implements BackendProvider {
    /** Makes the provider, for {@link java.util.ServiceLoader}. */
    public ZooKeeperProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("zookeeper");
    }

    @Override
    public BackendFactory parse(String url) {
        return Url.parse(url);
    }
}
