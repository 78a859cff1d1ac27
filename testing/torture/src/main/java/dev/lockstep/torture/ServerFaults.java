package dev.lockstep.torture;

import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.ServerUnavailableException;
import dev.lockstep.servers.SlowDisk;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;

/** What can be done to any server. */
final class ServerFaults {
    private static final Duration SLOW = Duration.ofMillis(150);

    private ServerFaults() {}

    /** The faults of a single server. */
    static List<Fault> of(ServerProcess server) {
        return List.of(
                paused("server paused", Length.ANY, random -> server),
                killed("server killed", random -> server),
                restarted("server restarted", server));
    }

    /** Stands still, as in a long wait for its disk. */
    static Fault paused(String kind, Length length, Function<Random, ? extends ServerProcess> choose) {
        return Fault.of(kind, length, random -> {
            ServerProcess server = choose.apply(random);
            server.pause();
            return Injected.all(server.toString(), server::resume);
        });
    }

    /** Crashes, and is started again on its data. */
    static Fault killed(String kind, Function<Random, ? extends ServerProcess> choose) {
        return Fault.of(kind, Length.SHORT, random -> {
            ServerProcess server = choose.apply(random);
            server.kill();
            return Injected.all(server.toString(), server::start);
        });
    }

    /** A machine for servers, whose clock and disk can be spoilt; empty if there can be none here. */
    static Optional<HostFaults> host() {
        try {
            return Optional.of(HostFaults.create());
        } catch (ServerUnavailableException e) {
            return Optional.empty();
        }
    }

    /**
     * A clock that jumps forward or back by a few ttls. Engines that expire by the time of day do not promise exclusion
     * then.
     */
    static List<Fault> ofClock(Optional<HostFaults> host, Duration ttl) {
        return host.stream()
                .flatMap(each -> Stream.of(
                        off("clock set forward", each, ttl.multipliedBy(2)),
                        off("clock set back", each, ttl.multipliedBy(-2))))
                .toList();
    }

    private static Fault off(String kind, HostFaults host, Duration off) {
        return Fault.of(kind, Length.ANY, random -> {
                    host.clockOff(off);
                    return Injected.all("clock", () -> host.clockOff(Duration.ZERO));
                })
                .excusing(Rule.EXCLUSION, Rule.ORDER);
    }

    /** A disk without room. A server that gives up because of it is started again. */
    static List<Fault> ofFullDisk(Optional<HostFaults> host, ServerProcess server) {
        return host.stream()
                .map(each -> Fault.of("disk full", Length.SHORT, random -> {
                    each.diskFull(true);
                    return Injected.all("disk", () -> {
                        each.diskFull(false);
                        server.start();
                    });
                }))
                .toList();
    }

    /** A disk on which each write takes long to be safe. */
    static Fault slowDisk(Function<Random, ? extends ServerProcess> choose) {
        return Fault.of("disk slow", Length.ANY, random -> {
            ServerProcess server = choose.apply(random);
            SlowDisk disk = SlowDisk.of(server, SLOW);
            return Injected.all(server.toString(), disk::close);
        });
    }

    private static Fault restarted(String kind, ServerProcess server) {
        return Fault.of(kind, Length.MOMENT, random -> {
            server.stop();
            return Injected.all(server.toString(), server::start);
        });
    }
}
