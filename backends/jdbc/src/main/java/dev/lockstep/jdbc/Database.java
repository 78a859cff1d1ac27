package dev.lockstep.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * The database that is connected.
 *
 * @param dialect which one it is
 * @param hosts where it is, without user and password; null if that is not known, or in this process
 * @param together whether connections take several statements as one
 */
record Database(Dialect dialect, @Nullable String hosts, boolean together) {
    /** For messages. */
    @Override
    public String toString() {
        return hosts == null ? dialect.product() : dialect.product() + " at " + hosts;
    }
}
