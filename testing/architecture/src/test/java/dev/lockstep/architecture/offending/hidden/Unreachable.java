package dev.lockstep.architecture.offending.hidden;

/** Public, but in a package that no module exports. */
public final class Unreachable {
    private Unreachable() {}
}
