package dev.lockstep.tck;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.util.Set;

/** Serves {@code plain:PORT}, so that a second process can connect. */
public final class PlainProvider implements BackendProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("plain");
    }

    @Override
    public BackendFactory parse(String url) {
        try {
            int port = Integer.parseInt(url.substring("plain:".length()));
            return context -> new PlainBackend(context, new PlainWire(port));
        } catch (NumberFormatException e) {
            throw new LockConfigurationException(null, "Not a URL of the plain engine; expected plain:PORT.");
        }
    }
}
