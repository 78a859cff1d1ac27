package dev.lockstep.architecture.offending.internal.turnstile;

import dev.lockstep.architecture.offending.spi.Grant;

/** Acts in place of leaving an effect. */
public class Decision {
    Object act() {
        return new Action();
    }

    Object request(Grant grant) {
        return grant.release();
    }

    long read(Grant grant) {
        return grant.token();
    }

    static class Nested {
        Object act() {
            return new Action();
        }
    }
}
