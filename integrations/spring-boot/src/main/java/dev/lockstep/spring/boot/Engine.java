package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;
import dev.lockstep.spi.BackendFactory;
import java.util.function.Consumer;

/**
 * The engine of a client, and who chose it.
 *
 * @param name for people, without credentials
 * @param source what chose it
 * @param choice passes it to a builder
 */
record Engine(String name, String source, Consumer<LockClient.Builder> choice) {
    static Engine of(String url, String source) {
        int colon = url.indexOf(':');
        return new Engine(
                colon < 0 ? "an unknown engine" : url.substring(0, colon), source, builder -> builder.url(url));
    }

    static Engine of(BackendFactory backend, String name, String source) {
        return new Engine(name, source, builder -> builder.backend(backend));
    }
}
