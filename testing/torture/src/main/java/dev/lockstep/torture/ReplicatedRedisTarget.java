package dev.lockstep.torture;

import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerException;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/**
 * Redis primaries, each with a replica that must confirm each grant and takes its place. Clients learn the servers' own
 * addresses, so there are no proxies in between.
 */
abstract class ReplicatedRedisTarget implements Target {
    private static final Duration FAILOVER = Duration.ofSeconds(20);

    /** A primary that has locks. */
    abstract RedisServer primary(Random random);

    /** The servers that keep locks now. */
    abstract List<RedisServer> primaries();

    /** All servers with data. */
    abstract List<RedisServer> nodes();

    @Override
    public Duration ttl() {
        return Duration.ofSeconds(3);
    }

    @Override
    public List<Integer> ports() {
        return List.of();
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(ServerFaults.ofRedis(this::primary));
        faults.addAll(List.of(
                Fault.of("primary killed", Length.MOMENT, random -> {
                    RedisServer primary = primary(random);
                    return failOver(primary, replica(primary));
                }),
                Fault.of("lagging replica promoted", Length.MOMENT, random -> {
                            RedisServer primary = primary(random);
                            RedisServer replica = replica(primary);
                            forget(replica);
                            return failOver(primary, replica);
                        })
                        .excusing(Rule.EXCLUSION, Rule.ORDER),
                Fault.of("replica cut off", Length.ANY, random -> {
                    RedisServer primary = primary(random);
                    Fault.Act heal = cutOff(replica(primary), primary);
                    return Injected.all(primary.toString(), () -> {
                        heal.run();
                        awaitWhole();
                    });
                }),
                // No excuse: what it has not heard of was not confirmed, so nobody can have been granted it.
                Fault.of("cut-off replica promoted", Length.MOMENT, random -> {
                    RedisServer primary = primary(random);
                    RedisServer replica = replica(primary);
                    Fault.Act heal = cutOff(replica, primary);
                    Parking.forNanos((long) (ttl().toNanos() * random.nextDouble()));
                    Injected failedOver = failOver(primary, replica);
                    return Injected.all(failedOver.target(), () -> {
                        heal.run();
                        failedOver.heal().run();
                    });
                }),
                paused("primary paused", this::primary),
                paused("replica paused", random -> replica(primary(random)))));
        return faults;
    }

    /** Empties a replica, as if nothing had reached it yet. It is promoted then, whether it could be seen to be done or not. */
    private static void forget(RedisServer replica) {
        try {
            readOnly(replica, false);
            replica.command("FLUSHALL");
            readOnly(replica, true);
        } catch (ServerException e) {
            // Nothing is promised of it from now on.
        }
    }

    /** A replica does not hear of its primary any more, while all others do; gives what lets it. */
    private static Fault.Act cutOff(RedisServer replica, RedisServer primary) throws Exception {
        Fault.Act heal = () -> hear(replica, true);
        Fault.orHeal(
                () -> {
                    hear(replica, false);
                    primary.command("CLIENT", "KILL", "TYPE", "replica");
                    Parking.require(
                            replica + " is cut off",
                            () -> Guess.of(
                                    () -> replica.info("master_link_status").equals("down")),
                            FAILOVER);
                },
                heal);
        return heal;
    }

    /** Lets a replica connect to its primary, or keeps it from that by a password that the primary does not ask for. */
    private static void hear(RedisServer replica, boolean may) {
        replica.command("CONFIG", "SET", "masterauth", may ? "" : "nobody asks for it");
    }

    private static void readOnly(RedisServer server, boolean is) {
        server.command("CONFIG", "SET", "replica-read-only", is ? "yes" : "no");
    }

    /** Healed when all are one set again: a pause that is taken for the end needs a while to be put right. */
    private Fault paused(String kind, Function<Random, RedisServer> choose) {
        return Fault.of(kind, Length.ANY, random -> {
            RedisServer server = choose.apply(random);
            server.pause();
            return Injected.all(server.toString(), () -> {
                server.resume();
                awaitWhole();
            });
        });
    }

    private RedisServer replica(RedisServer primary) {
        String port = Integer.toString(primary.port());
        return nodes().stream()
                .filter(server -> Guess.of(() -> server.info("role").equals("slave")
                        && server.info("master_port").equals(port)))
                .findFirst()
                .orElseThrow(() -> new ServerException("nobody follows " + primary));
    }

    /** Kills a primary, and waits until its replica has its place; healed when the first is back, as a replica. */
    private Injected failOver(RedisServer old, RedisServer next) {
        old.kill();
        Parking.until(() -> Guess.of(() -> next.info("role").equals("master")), FAILOVER);
        return Injected.all(old.toString(), () -> {
            old.start();
            readOnly(next, true);
            awaitWhole();
        });
    }

    private void awaitWhole() {
        Parking.require("every primary has its replica", () -> Guess.of(this::isWhole), FAILOVER);
    }

    /** Whether every primary has its replica. */
    boolean isWhole() {
        return primaries().stream()
                .allMatch(primary -> primary.info("connected_slaves").equals("1"));
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.after(
                ttl().multipliedBy(3),
                () -> primaries().stream()
                        .flatMap(server -> Leftovers.keys(server).stream())
                        .toList());
    }
}
