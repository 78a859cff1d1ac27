package dev.lockstep;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The call would have waited indefinitely: its thread holds a lock that others wait for, and they hold, in a cycle, the
 * lock that the call waited for. This call of the cycle fails, so that the others can continue once its thread has
 * released its locks. The thread still holds those; release them before you repeat the call.
 *
 * @see DeadlockPolicy#FAIL
 */
public class DeadlockException extends LockNotAcquiredException {
    private static final long serialVersionUID = 1L;

    private final transient WaitGraph.@Nullable Cycle cycle;

    /**
     * Makes an exception.
     *
     * @param lockName the lock that the call waited for
     * @param cycle who holds and waits for what
     */
    public DeadlockException(String lockName, WaitGraph.Cycle cycle) {
        super(
                lockName,
                "Lock '" + lockName + "': deadlock, so this call gives up. It is not held by this call; what the thread"
                        + " holds it still holds. Release that, then repeat the work, and take locks in the same order"
                        + " everywhere. The cycle: " + cycle + ".",
                null);
        this.cycle = cycle;
    }

    /**
     * Shows the cycle.
     *
     * @return who holds and waits for what; empty after serialization
     */
    public Optional<WaitGraph.Cycle> cycle() {
        return Optional.ofNullable(cycle);
    }
}
