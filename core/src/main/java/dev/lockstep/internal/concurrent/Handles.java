package dev.lockstep.internal.concurrent;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Handles of fields that are written where a full fence would be paid for nothing. A native image finds the fields in
 * reflect-config.json.
 */
public final class Handles {
    private Handles() {}

    public static VarHandle of(MethodHandles.Lookup lookup, Class<?> owner, String field, Class<?> type) {
        try {
            return lookup.findVarHandle(owner, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
