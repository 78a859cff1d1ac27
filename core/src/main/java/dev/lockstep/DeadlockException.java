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
                "Lock '" + lockName
                        + "': deadlock. This call failed so that others can continue. The thread still holds"
                        + " its other locks: release them, then repeat the work, and acquire locks in the same order"
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
