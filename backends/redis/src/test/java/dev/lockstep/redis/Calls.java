package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import java.util.Arrays;

/** Counts what clients asked of a server; what scripts do inside counts for other commands than these. */
final class Calls {
    private Calls() {}

    static long of(RedisServer server, String... commands) {
        String report = server.command("INFO", "commandstats");
        return Arrays.stream(commands)
                .mapToLong(command -> report.lines()
                        .filter(line -> line.startsWith("cmdstat_" + command + ":"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("[^=]*calls=(\\d+),.*", "$1")))
                        .sum())
                .sum();
    }
}
