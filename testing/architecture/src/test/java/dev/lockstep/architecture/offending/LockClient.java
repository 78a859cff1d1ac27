package dev.lockstep.architecture.offending;

import dev.lockstep.architecture.offending.internal.Secret;

/** The one that may use internals, in its builder. */
public interface LockClient {
    /** The door. */
    final class Builder {
        public int connect() {
            return new Secret().hashCode();
        }
    }
}
