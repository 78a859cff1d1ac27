package dev.lockstep.torture;

import dev.lockstep.servers.ServerProcess;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/** What can be done to any server. */
final class ServerFaults {
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

    private static Fault restarted(String kind, ServerProcess server) {
        return Fault.of(kind, Length.MOMENT, random -> {
            server.restart();
            return Injected.all(server.toString(), Fault.Heal.NONE);
        });
    }
}
