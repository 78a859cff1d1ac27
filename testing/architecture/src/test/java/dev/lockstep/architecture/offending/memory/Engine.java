package dev.lockstep.architecture.offending.memory;

import dev.lockstep.architecture.offending.internal.Secret;
import org.assertj.core.api.Assertions;

/** An engine that reaches into internals and into a library that is not its client. */
final class Engine {
    private Engine() {}

    static void work() {
        Assertions.assertThat(new Secret()).isNotNull();
    }
}
