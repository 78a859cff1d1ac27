package dev.lockstep.micrometer;

import io.micrometer.observation.Observation;
import java.util.Objects;

/**
 * One observation that is under way: of acquiring a lock, and of the work under it. For the integration of Lockstep
 * with a framework; applications use {@link LockObservations#observe}. Safe for use by many threads.
 */
public final class LockObservation {
    private final Observation observation;
    private final LockedContext context;

    LockObservation(Observation observation, LockedContext context) {
        this.observation = observation;
        this.context = context;
    }

    /**
     * Makes it the current observation of this thread: while the lock is acquired, so that the call is known to belong to it,
     * and while the work runs, so that what the work observes has it as its parent.
     *
     * @return to be closed in this thread
     */
    public Observation.Scope openScope() {
        return observation.openScope();
    }

    /**
     * The observation, to be passed on to other threads.
     *
     * @return the observation
     */
    public Observation observation() {
        return observation;
    }

    /**
     * The lock was not acquired, or the work failed.
     *
     * @param failure why
     */
    public void failed(Throwable failure) {
        observation.error(Objects.requireNonNull(failure, "failure"));
    }

    /** The work has ended, or was not begun. The observation stops when its locks have been released, too. Call it once. */
    public void ended() {
        context.end(observation);
    }
}
