package dev.lockstep.redis;

import dev.lockstep.EngineInfo;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.StartUpCheck;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisAccessControlException;

/** Describes the guarantees of locks on one Redis, with the settings that its servers report. For one thread. */
final class Description {
    private final Settings settings;
    private final Duration ttl;
    private final List<Map<String, String>> primaries = new ArrayList<>();
    private Optional<Instant> clock = Optional.empty();

    private Description(Settings settings, Duration ttl) {
        this.settings = settings;
        this.ttl = ttl;
    }

    /** Asks each primary. */
    static EngineInfo of(Link link, Settings settings, Duration ttl, long deadlineNanos) throws Failure {
        Description description = new Description(settings, ttl);
        link.callAll(deadlineNanos, connection -> {
            description.ask(connection);
            return true;
        });
        return description.make(link.route().isCluster());
    }

    private void ask(Connection connection) {
        try {
            byte[] report = (byte[]) connection.executeCommand(Protocol.Command.INFO);
            primaries.add(StartUpCheck.facts(new String(report, StandardCharsets.UTF_8)));
        } catch (JedisAccessControlException e) {
            primaries.add(Map.of()); // not allowed: it stays unknown
        }
        if (clock.isEmpty()) {
            List<?> time = (List<?>) connection.executeCommand(Protocol.Command.TIME);
            clock = Optional.of(Instant.ofEpochSecond(number(time.get(0)), number(time.get(1)) * 1_000));
        }
    }

    private static long number(Object bytes) {
        return Long.parseLong(new String((byte[]) bytes, StandardCharsets.US_ASCII));
    }

    private EngineInfo make(boolean cluster) {
        Map<String, String> first = primaries.isEmpty() ? Map.of() : primaries.get(0);
        String product = StartUpCheck.product(first);
        EngineInfo info = EngineInfo.of(cluster ? product + " Cluster" : product, StartUpCheck.version(first))
                .withGuarantees(guarantees())
                .withLimits(limits(first.isEmpty()));
        return clock.map(info::withClock).orElse(info);
    }

    private List<String> guarantees() {
        List<String> guarantees = new ArrayList<>();
        guarantees.add("One holder at a time, as long as the server keeps its data and its clock is not set forward.");
        guarantees.add("A crashed holder's lock is free after " + ttl.toMillis()
                + " ms, by the server's clock. A holder learns of a loss before that.");
        guarantees.add(
                settings.queue()
                        ? "Fair locks are first come, first served. A release wakes one waiter, or the readers next in line."
                        : "A client releases only what it holds itself.");
        if (settings.replicas() > 0) {
            guarantees.add(
                    settings.replicas() + " of its replicas confirm each grant: a failover to one of them keeps it.");
        }
        guarantees.add("Tokens rise, over restarts and failovers too, as far as the servers' clocks agree.");
        return guarantees;
    }

    private List<String> limits(boolean unknown) {
        List<String> limits = new ArrayList<>();
        int replicas = primaries.stream().mapToInt(Description::replicas).min().orElse(0);
        if (unknown) {
            limits.add("This user has no permission for INFO: version, persistence and replicas are unknown.");
        } else if (replicas == 0) {
            limits.add("No replica: while the server is down, nothing is granted, and holds end at their deadlines.");
        }
        if (settings.replicas() == 0 && (unknown || replicas > 0)) {
            limits.add("A failover to a replica that has not seen a lock grants it twice (see ?replicas=1).");
        }
        if (!unknown && primaries.stream().anyMatch(facts -> !"1".equals(facts.get("aof_enabled")))) {
            limits.add("No append-only file: a restart can forget locks, and grant them twice.");
        }
        if (primaries.stream().anyMatch(StartUpCheck::mayEvict)) {
            limits.add(
                    "An eviction policy: when memory is short, locks that are held can be removed and granted twice.");
        }
        if (!settings.queue()) {
            limits.add("queue=off: no order, no fair or shared locks, no semaphores; waiters try again every few ms.");
        }
        return limits;
    }

    private static int replicas(Map<String, String> facts) {
        return Integer.parseInt(facts.getOrDefault("connected_slaves", "0"));
    }
}
