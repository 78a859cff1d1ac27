package dev.lockstep.internal.events;

import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.WaitGraph;
import java.time.Duration;

/** The events that listeners and observers get. */
public final class EventRecords {
    private EventRecords() {}

    record Acquired(String lockName, LockMode mode, Duration waited) implements LockListener.Acquired {}

    record HandedOff(String lockName, LockMode mode, LockOptions options) implements LockListener.HandedOff {}

    record Released(String lockName, LockMode mode, Duration held) implements LockListener.Released {}

    record Unconfirmed(String lockName, LockMode mode, Duration held) implements LockListener.Unconfirmed {}

    record Lost(String lockName, LockMode mode, LossReason reason) implements LockListener.Lost {}

    public record Abandoned(String lockName, LockMode mode, String thread, Duration held, boolean released)
            implements LockListener.Abandoned {}

    public record Deadlock(WaitGraph.Cycle cycle, boolean failsCall) implements LockListener.Deadlock {}

    record Unreachable(Duration silence) implements LockListener.Unreachable {}

    record Reachable(Duration outage) implements LockListener.Reachable {}

    record FallbackEntered(Duration silence) implements LockListener.FallbackEntered {}

    record FallbackLeft(Duration duration) implements LockListener.FallbackLeft {}
}
