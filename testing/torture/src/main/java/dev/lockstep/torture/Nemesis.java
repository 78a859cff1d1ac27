package dev.lockstep.torture;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.ServerException;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Breaks one thing after the other, as its seed says. For one thread. */
final class Nemesis {
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final List<Fault> faults;
    private final Observer observer;
    private final long ttlNanos;
    private final Random random;
    private int next;

    Nemesis(List<Fault> faults, Observer observer, Duration ttl, long seed) {
        this.faults = List.copyOf(faults);
        this.observer = observer;
        this.ttlNanos = ttl.toNanos();
        this.random = new Random(seed);
        this.next = faults.isEmpty() ? 0 : random.nextInt(faults.size());
    }

    /** Breaks things for a time, each kind as often as the others; all is healed when it returns. */
    void rage(long nanos) throws Exception {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            if (!faults.isEmpty()) {
                inflict(faults.get(next++ % faults.size()));
            }
            Parking.forNanos(Math.min(between(0.05, 0.5), end - System.nanoTime()));
        }
    }

    private void inflict(Fault fault) throws Exception {
        long from = observer.now();
        Set<Integer> inside = observer.clientsInside();
        Fault.Injected injected;
        try {
            injected = fault.injection().inject(random);
        } catch (IOException | SQLException | LockUnavailableException | ServerException e) {
            return; // what is not there, such as a leader while none is elected, cannot be broken
        }
        boolean landed = injected.client() == FaultWindow.ALL ? !inside.isEmpty() : inside.contains(injected.client());
        try {
            Parking.forNanos(nanos(fault.length()));
        } finally {
            injected.heal().run();
        }
        observer.fault(fault.kind(), injected.target(), injected.client(), fault.excuses(), from, landed);
    }

    private long nanos(Fault.Length length) {
        return switch (length) {
            case MOMENT -> 0;
            case SHORT -> between(0.05, 0.7);
            case LONG -> between(1.1, 1.8);
            case ANY -> random.nextBoolean() ? between(0.05, 0.7) : between(1.1, 1.8);
        };
    }

    private long between(double least, double most) {
        return SHORTEST_NANOS + (long) (ttlNanos * (least + (most - least) * random.nextDouble()));
    }
}
