package dev.lockstep.torture;

import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.RedisServer;
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
                restarted("server restarted", random -> server));
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
                        clock("clock set forward", random -> each, ttl.multipliedBy(2)),
                        clock("clock set back", random -> each, ttl.multipliedBy(-2))))
                .toList();
    }

    /** A clock that jumps, and jumps back; so it is set forward either way. */
    static Fault clock(String kind, Function<Random, HostFaults> choose, Duration off) {
        return Fault.of(kind, Length.ANY, random -> {
                    HostFaults host = choose.apply(random);
                    host.clockOff(off);
                    return Injected.all("clock", () -> host.clockOff(Duration.ZERO));
                })
                .excusing(Rule.EXCLUSION, Rule.ORDER);
    }

    /** What an operator does to a Redis server, and clients must bear. */
    static List<Fault> ofRedis(Function<Random, RedisServer> choose) {
        return List.of(
                command("scripts flushed", choose, "SCRIPT", "FLUSH"),
                command("connections killed", choose, "CLIENT", "KILL", "TYPE", "normal"),
                command("pushes killed", choose, "CLIENT", "KILL", "TYPE", "pubsub"));
    }

    private static Fault command(String kind, Function<Random, RedisServer> choose, String... words) {
        return Fault.of(kind, Length.MOMENT, random -> {
            RedisServer server = choose.apply(random);
            server.command(words);
            return Injected.all(server.toString(), Fault.Heal.NONE);
        });
    }

    /**
     * A disk without room.
     *
     * @param revive starts a server again that has given up because of it
     */
    static List<Fault> ofFullDisk(Optional<HostFaults> host, Fault.Heal revive) {
        return host.stream()
                .map(each -> Fault.of("disk full", Length.SHORT, random -> {
                    each.diskFull(true);
                    return Injected.all("disk", () -> {
                        each.diskFull(false);
                        revive.run();
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

    /** Ends in good order, and is started again. */
    static Fault restarted(String kind, Function<Random, ? extends ServerProcess> choose) {
        return Fault.of(kind, Length.MOMENT, random -> {
            ServerProcess server = choose.apply(random);
            server.stop();
            return Injected.all(server.toString(), server::start);
        });
    }
}
