package dev.lockstep.jdbc;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The numbers by which a database, or its driver, names errors. Those of one database mean nothing to the others.
 *
 * @param conflict it lost against another statement
 * @param refused the database answers and writes nothing
 * @param readOnly of these, those of a read-only server
 * @param away this client cannot reach the server
 * @param wrong it will never work
 * @param argument the driver cannot use a part of the URL
 */
record ErrorCodes(
        Set<Integer> conflict,
        Set<Integer> refused,
        Set<Integer> readOnly,
        Set<Integer> away,
        Set<Integer> wrong,
        Set<Integer> argument) {
    /** For a database that identifies errors by their state alone. */
    static final ErrorCodes NONE = new ErrorCodes(Set.of(), Set.of(), Set.of(), Set.of(), Set.of(), Set.of());

    /** The meaning of a number; null if it has none. */
    @Nullable
    Failure meaning(int code) {
        if (conflict.contains(code)) {
            return Failure.CONFLICT;
        }
        if (refused.contains(code)) {
            return Failure.REFUSED;
        }
        if (away.contains(code)) {
            return Failure.UNREACHABLE;
        }
        return wrong.contains(code) ? Failure.WRONG : null;
    }
}
