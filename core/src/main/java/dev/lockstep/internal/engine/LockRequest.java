package dev.lockstep.internal.engine;

import dev.lockstep.LockOptions;
import dev.lockstep.spi.ClaimRequest;

/** A claim of the core, which also knows the options of its lock. */
public interface LockRequest extends ClaimRequest {
    /** The settings that all users of the name currently agree on. */
    LockOptions options();
}
