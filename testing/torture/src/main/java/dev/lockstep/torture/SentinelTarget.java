package dev.lockstep.torture;

import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/**
 * A Redis primary with a replica that must confirm each grant, and Sentinels that promote it. They tell clients the
 * servers' own addresses, so there are no proxies in between.
 */
final class SentinelTarget implements Target {
    private static final Duration FAILOVER = Duration.ofSeconds(20);

    private final RedisSentinels servers = RedisServer.builder().persistent().startSentinels(1, 3);

    @Override
    public String name() {
        return "redis-sentinel";
    }

    @Override
    public Duration ttl() {
        return Duration.ofSeconds(3);
    }

    @Override
    public List<Integer> ports() {
        return List.of();
    }

    @Override
    public String url(List<Integer> ports) {
        return "redis-sentinel://" + servers.sentinels().addresses() + "/" + RedisSentinels.PRIMARY_NAME
                + "?replicas=1&waiterExpiry=1s";
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(ServerFaults.ofRedis(this::primary));
        faults.addAll(List.of(
                Fault.of("primary killed", Length.MOMENT, random -> failOver()),
                Fault.of("lagging replica promoted", Length.MOMENT, random -> {
                            RedisServer replica = replica();
                            replica.command("CONFIG", "SET", "replica-read-only", "no");
                            replica.command("FLUSHALL"); // as if nothing had reached it yet
                            replica.command("CONFIG", "SET", "replica-read-only", "yes");
                            return failOver();
                        })
                        .excusing(Rule.EXCLUSION, Rule.ORDER),
                paused("primary paused", this::primary),
                paused("replica paused", random -> replica())));
        return faults;
    }

    /** Healed when both are one set again: Sentinels that took a pause for the end need a while to put that right. */
    private Fault paused(String kind, Function<Random, RedisServer> choose) {
        return Fault.of(kind, Length.SHORT, random -> {
            RedisServer server = choose.apply(random);
            server.pause();
            return Injected.all(server.toString(), () -> {
                server.resume();
                Parking.until(this::isFollowed, FAILOVER);
            });
        });
    }

    private RedisServer primary(Random random) {
        return servers.primary();
    }

    private RedisServer replica() {
        RedisServer primary = servers.primary();
        return servers.servers().find(server -> server != primary);
    }

    /** Kills the primary, and waits until the other has its place; healed when the first is back, as a replica. */
    private Injected failOver() {
        RedisServer old = servers.primary();
        old.kill();
        Parking.until(() -> Guess.of(() -> servers.primary() != old), FAILOVER);
        return Injected.all(old.toString(), () -> {
            old.start();
            Parking.until(this::isFollowed, FAILOVER);
        });
    }

    private boolean isFollowed() {
        return Guess.of(() -> servers.primary().info("connected_slaves").equals("1"));
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.after(ttl().multipliedBy(3), () -> Leftovers.keys(servers.primary()));
    }

    @Override
    public void close() {
        servers.close();
    }
}
