package dev.lockstep.console;

import dev.lockstep.LockInfo;

/** A lock, and the namespace in which it is. */
record Located(String namespace, LockInfo info) {
    /** The id of the lock over all namespaces. */
    record Key(String namespace, String name) {}

    Key key() {
        return new Key(namespace, info.name());
    }
}
