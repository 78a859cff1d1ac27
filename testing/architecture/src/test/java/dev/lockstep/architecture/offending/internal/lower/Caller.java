package dev.lockstep.architecture.offending.internal.lower;

import dev.lockstep.architecture.offending.internal.upper.Called;

/** Belongs below what it calls. */
public class Caller {
    Object call() {
        return new Called();
    }
}
