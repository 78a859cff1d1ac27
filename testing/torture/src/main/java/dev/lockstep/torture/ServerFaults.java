package dev.lockstep.torture;

import dev.lockstep.servers.ProxiedLinks;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.SlowDisk;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** The faults of any server. */
final class ServerFaults {
    private static final Duration AGREEMENT = Duration.ofSeconds(30);

    private ServerFaults() {}

    /** The faults of a single server. */
    static List<Fault> of(ServerProcess server) {
        return List.of(
                paused("server paused", Length.ANY, random -> server),
                killed("server killed", random -> server),
                restarted("server restarted", random -> server));
    }

    /** Is paused, as in a long wait for its disk. */
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

    /** The actions of an operator on a Redis server that clients must survive. */
    static List<Fault> ofRedis(Function<Random, RedisServer> choose) {
        return List.of(
                command("scripts flushed", choose, "SCRIPT", "FLUSH"),
                command("connections killed", choose, "CLIENT", "KILL", "TYPE", "normal"),
                command("pushes killed", choose, "CLIENT", "KILL", "TYPE", "pubsub"),
                Fault.of("memory full", Length.SHORT, random -> {
                    RedisServer server = choose.apply(random);
                    Fault.Act heal = () -> server.command("CONFIG", "SET", "maxmemory", "0");
                    Fault.orHeal(() -> server.command("CONFIG", "SET", "maxmemory", "1"), heal);
                    return Injected.all(server.toString(), heal);
                }));
    }

    private static Fault command(String kind, Function<Random, RedisServer> choose, String... words) {
        return Fault.of(kind, Length.MOMENT, random -> {
            RedisServer server = choose.apply(random);
            server.command(words);
            return Injected.all(server.toString(), Fault.Act.NONE);
        });
    }

    /** A disk on which each write takes long to be safe, of a server that is on no machine that can be spoilt. */
    static Fault slowDisk(Function<Random, ? extends ServerProcess> choose) {
        return Fault.of("disk slow", Length.ANY, random -> {
            ServerProcess server = choose.apply(random);
            SlowDisk disk = SlowDisk.of(server, Machines.SLOW_DISK);
            return Injected.all(server.toString(), disk::close);
        });
    }

    /**
     * The others do not hear of a server any more, nor it of them; its clients do.
     *
     * @param agreed whether all serve again, of one mind, once they are healed
     */
    static <S extends ServerProcess> Fault cutOff(
            String kind, Function<Random, S> choose, ServerGroup<S> group, ProxiedLinks links, BooleanSupplier agreed) {
        return Fault.of(kind, Length.ANY, random -> {
            S server = choose.apply(random);
            links.cutOff(group.servers().indexOf(server));
            return Injected.all(server.toString(), () -> {
                links.heal();
                Parking.require("all servers serve", agreed, AGREEMENT);
            });
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
