package dev.lockstep.jdbc;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The names that a database, or its driver, has for errors: numbers, or SQL states beside those of the standard. The
 * numbers of one database mean nothing to the others.
 *
 * @param conflict it lost against another statement
 * @param refused the database answers and writes nothing
 * @param readOnly of these, those of a read-only server
 * @param away this client cannot reach the server
 * @param wrong it will never work
 * @param argument the driver cannot use a part of the URL
 */
record ErrorCodes<T>(Set<T> conflict, Set<T> refused, Set<T> readOnly, Set<T> away, Set<T> wrong, Set<T> argument) {
    /** For a database that has none. */
    static <T> ErrorCodes<T> none() {
        return new ErrorCodes<>(Set.of(), Set.of(), Set.of(), Set.of(), Set.of(), Set.of());
    }

    /** The meaning of a code; null if it has none. */
    @Nullable
    Failure meaning(T code) {
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
