package dev.lockstep.torture;

import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.ServerUnavailableException;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Machines for servers, whose clocks and disks can be spoilt; none if there can be none here. For one thread. */
final class Machines implements AutoCloseable {
    static final Duration SLOW_DISK = Duration.ofMillis(150);

    private final List<HostFaults> hosts = new ArrayList<>();
    private final String one;
    private @Nullable Long lostDataNanos; // null if none was lost yet

    /** Makes some, one for each server. */
    Machines(int count) {
        one = count == 1 ? "" : "one ";
        try {
            for (int i = 0; i < count; i++) {
                hosts.add(HostFaults.create());
            }
        } catch (ServerUnavailableException e) {
            close();
            hosts.clear();
        }
    }

    /** The one for the server at a place; empty if there can be none here. */
    Optional<HostFaults> get(int place) {
        return hosts.isEmpty() ? Optional.empty() : Optional.of(hosts.get(place));
    }

    List<HostFaults> all() {
        return List.copyOf(hosts);
    }

    /** Does something to the machine at a place. */
    private interface Harm {
        Fault.Act inflict(HostFaults host, int place);
    }

    private List<Fault> fault(String kind, Length length, Harm harm) {
        return hosts.isEmpty()
                ? List.of()
                : List.of(Fault.of(one + kind, length, (Random random) -> {
                    int place = random.nextInt(hosts.size());
                    return Injected.all(one + "machine", harm.inflict(hosts.get(place), place));
                }));
    }

    /** A clock that jumps forward or back by two ttls, and jumps back; so it is set forward either way. */
    List<Fault> clocks(Duration ttl) {
        List<Fault> faults = new ArrayList<>(clock("clock set forward", ttl.multipliedBy(2)));
        faults.addAll(clock("clock set back", ttl.multipliedBy(-2)));
        return faults;
    }

    private List<Fault> clock(String kind, Duration off) {
        return fault(kind, Length.ANY, (host, place) -> {
            host.clockOff(off);
            return () -> host.clockOff(Duration.ZERO);
        });
    }

    /** The same on engines that expire by the time of day, and do not promise exclusion when it jumps. */
    List<Fault> clocksThatCount(Duration ttl) {
        return clocks(ttl).stream()
                .map(fault -> fault.excusing(Rule.EXCLUSION, Rule.ORDER).after(() -> awaitTimeAfterDataLoss(ttl)))
                .toList();
    }

    /** Waits until a clock that is set back by two ttls shows a time after the last loss. */
    private void awaitTimeAfterDataLoss(Duration ttl) {
        Long lost = lostDataNanos;
        if (lost != null) {
            Parking.forNanos(lost + 3 * ttl.toNanos() - System.nanoTime());
        }
    }

    /**
     * A fault in which a server whose tokens are no lower than its clock forgets them. It waits until no clock shows a time that
     * it has shown before: a loss and a clock that goes back are what no token survives, as docs/guarantees.md says.
     */
    Fault losingData(Fault fault) {
        Fault.Act newTime = () -> hosts.forEach(HostFaults::awaitNewTime);
        return new Fault(fault.kind(), fault.length(), fault.excuses(), newTime, random -> {
            try {
                return fault.injection().inject(random);
            } finally {
                lostDataNanos = System.nanoTime(); // even if it failed: data may have been lost all the same
            }
        });
    }

    /** A disk on which each write takes long to be safe. */
    List<Fault> slowDisks() {
        return fault("disk slow", Length.ANY, (host, place) -> {
            host.diskSlow(SLOW_DISK);
            return () -> host.diskSlow(Duration.ZERO);
        });
    }

    /** Helps a server whose disk was full. */
    interface Revival {
        void run(int place);
    }

    /**
     * A disk without room.
     *
     * @param revival what is to be done when there is room again: some give up for good
     */
    List<Fault> fullDisks(Revival revival) {
        return fault("disk full", Length.SHORT, (host, place) -> {
            host.diskFull(true);
            return () -> {
                host.diskFull(false);
                revival.run(place);
            };
        });
    }

    @Override
    public void close() {
        hosts.forEach(HostFaults::close);
    }
}
