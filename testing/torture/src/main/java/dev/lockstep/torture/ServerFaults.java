package dev.lockstep.torture;

import dev.lockstep.servers.ServerProcess;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;

/** What can be done to any server. */
final class ServerFaults {
    private static final int SLOW_MICROS = 150_000;

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

    /**
     * The faults of a server's own clock: forward and back by a few ttls. Engines that expire by it do not promise
     * exclusion then.
     */
    static List<Fault> ofClock(ServerProcess server, Duration ttl) {
        return List.of(
                shifted("clock set forward", server, ttl.multipliedBy(2)),
                shifted("clock set back", server, ttl.multipliedBy(-2)));
    }

    private static Fault shifted(String kind, ServerProcess server, Duration shift) {
        return Fault.of(kind, Length.ANY, random -> {
                    server.shiftClock(shift);
                    return Injected.all(server.toString(), () -> server.shiftClock(Duration.ZERO));
                })
                .excusing(Rule.EXCLUSION, Rule.ORDER);
    }

    /** Each write to the disk takes long; none if this machine cannot do that to a process. */
    static List<Fault> ofDisk(Function<Random, ? extends ServerProcess> choose) {
        if (!exists("strace")) {
            return List.of();
        }
        return List.of(Fault.of("disk slow", Length.ANY, random -> {
            ServerProcess server = choose.apply(random);
            Process tracer = new ProcessBuilder(
                            "strace",
                            "-f",
                            "-q",
                            "-o",
                            "/dev/null",
                            "-p",
                            Long.toString(server.pid()),
                            "-e",
                            "trace=fsync,fdatasync",
                            "-e",
                            "inject=fsync,fdatasync:delay_enter=" + SLOW_MICROS)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return Injected.all(server.toString(), () -> {
                tracer.destroy();
                tracer.waitFor();
            });
        }));
    }

    /** Whether servers can have clocks of their own here. */
    static boolean canShiftClocks() {
        return exists("cc");
    }

    private static boolean exists(String program) {
        String path = System.getenv("PATH");
        return path != null
                && Stream.of(path.split(File.pathSeparator, -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static Fault restarted(String kind, ServerProcess server) {
        return Fault.of(kind, Length.MOMENT, random -> {
            server.restart();
            return Injected.all(server.toString(), Fault.Heal.NONE);
        });
    }
}
