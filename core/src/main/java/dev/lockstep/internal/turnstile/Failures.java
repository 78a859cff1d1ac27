package dev.lockstep.internal.turnstile;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.internal.engine.Engines;
import dev.lockstep.spi.LockBackend;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The exceptions of calls that get no lock, in words. Each call has its own, with the stack of its thread. */
public final class Failures {
    private final String clientName;
    private final LockBackend backend;

    Failures(String clientName, LockBackend backend) {
        this.clientName = clientName;
        this.backend = backend;
    }

    public LockUnavailableException unavailable(String lockName, long silenceNanos) {
        return new LockUnavailableException(
                lockName,
                "Lock '" + lockName + "': no answer from " + engine() + " for " + silenceNanos / 1_000_000
                        + " ms. It is not held by this call; check that the engine is up and reachable.");
    }

    public LockUnavailableException unconfirmed(String lockName) {
        return new LockUnavailableException(
                lockName,
                "Lock '" + lockName + "': " + engine()
                        + " has not confirmed yet that an earlier call of this client released it, so it is not known who"
                        + " holds it. It is not held by this call. The earlier release continues in the background,"
                        + " until the ttl has passed; check that the engine is up and able to write.");
    }

    public LockUnavailableException closedWhileWaiting(String lockName) {
        return new LockUnavailableException(
                lockName, "Lock '" + lockName + "': client '" + clientName + "' was closed while the call waited.");
    }

    /** The exception for one caller, in its own thread; the backend's failure, which may be many callers', is the cause. */
    public RuntimeException failure(String lockName, @Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof LockstepException known) {
            return copy(known.lockName() == null ? lockName : known.lockName(), known);
        }
        return new LockUnavailableException(
                lockName,
                "Lock '" + lockName + "': the request failed and its outcome is unknown. If it has taken the lock, the"
                        + " lock is being released.",
                cause);
    }

    private static LockstepException copy(String lockName, LockstepException known) {
        String message = String.valueOf(known.getMessage());
        if (known instanceof LockConfigurationException) {
            return new LockConfigurationException(lockName, message, known);
        }
        return known instanceof LockUnavailableException
                ? new LockUnavailableException(lockName, message, known)
                : new LockstepException(lockName, message, known);
    }

    private String engine() {
        return Engines.describe(backend);
    }
}
