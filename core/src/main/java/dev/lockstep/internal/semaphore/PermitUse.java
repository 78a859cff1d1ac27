package dev.lockstep.internal.semaphore;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.LockMode;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A permit, or a call that waits for one, in a snapshot of the client. */
record PermitUse(
        String lockName, OptionalLong threadId, Optional<String> threadName, Duration duration, OptionalLong token)
        implements ClientSnapshot.Use {
    /**
     * Makes one.
     *
     * @param thread null for a permit, which belongs to its handle, and for an asynchronous call
     * @param token 0 for a call
     */
    static PermitUse of(String name, @Nullable Thread thread, long nanos, long token) {
        return new PermitUse(
                name,
                thread == null ? OptionalLong.empty() : OptionalLong.of(thread.getId()),
                thread == null ? Optional.empty() : Optional.of(thread.getName()),
                Duration.ofNanos(Math.max(nanos, 0)),
                token == 0 ? OptionalLong.empty() : OptionalLong.of(token));
    }

    @Override
    public LockMode mode() {
        return LockMode.SHARED;
    }

    @Override
    public int handOffs() {
        return 0;
    }
}
