package dev.lockstep.examples.toy;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.util.Set;

/** Announces {@code toy:NAME}: the store of that name in this JVM. */
public final class ToyProvider implements BackendProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("toy");
    }

    @Override
    public BackendFactory parse(String url) {
        if (!url.matches("toy:[a-zA-Z0-9-]+")) {
            throw new LockConfigurationException(
                    null, "The URL of a toy store is toy:NAME, with a name of letters, digits and dashes.");
        }
        ToyStore store = ToyStore.named(url.substring("toy:".length()));
        return context -> new ToyBackend(context, new ToyStore.Connection(store));
    }
}
