package dev.lockstep.spi;

import dev.lockstep.LockConfigurationException;
import java.util.OptionalInt;

/**
 * The failure of backends for a name that is used both as a lock and as a semaphore, or with two numbers of permits.
 */
public final class Limits {
    private Limits() {}

    /**
     * Why a claim is refused.
     *
     * @param name the name
     * @param asked the {@link ClaimRequest#limit()} of the claim
     * @param known the limit in the engine
     * @return the exception
     */
    public static LockConfigurationException conflict(String name, OptionalInt asked, OptionalInt known) {
        return new LockConfigurationException(
                name,
                "'" + name + "' is in use as " + describe(known) + ", and this call asks for " + describe(asked)
                        + ". Use one name for one thing, with the same number of permits everywhere; to change the number,"
                        + " let all clients that use the name release it first.");
    }

    private static String describe(OptionalInt limit) {
        return limit.isEmpty()
                ? "a lock"
                : "a semaphore with " + limit.getAsInt() + (limit.getAsInt() == 1 ? " permit" : " permits");
    }
}
