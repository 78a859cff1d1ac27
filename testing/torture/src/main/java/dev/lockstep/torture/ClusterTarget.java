package dev.lockstep.torture;

import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A Redis Cluster of three primaries, each with a replica that the others promote. */
final class ClusterTarget extends ReplicatedRedisTarget {
    private static final int PRIMARIES = 3;
    private static final int SOME_LOCKS = 4;

    private final String namespace;
    private final RedisCluster cluster = RedisServer.builder().persistent().startCluster(PRIMARIES, 1);

    /**
     * Starts it.
     *
     * @param namespace of the locks, which decides where they are
     */
    ClusterTarget(String namespace) {
        this.namespace = namespace;
    }

    @Override
    public String name() {
        return "redis-cluster";
    }

    @Override
    public String url(List<Integer> ports) {
        return "redis-cluster://" + cluster.addresses() + "?replicas=1&waiterExpiry=1s";
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(super.faults());
        faults.add(Fault.of("slot moved", Length.MOMENT, random -> {
            int lock = random.nextInt(SOME_LOCKS);
            int slot = slot(lock);
            RedisServer from = cluster.owner(slot);
            List<RedisServer> others =
                    primaries().stream().filter(server -> server != from).toList();
            cluster.moveSlot(slot, others.get(random.nextInt(others.size())));
            return Injected.lock(lock);
        }));
        return faults;
    }

    private int slot(int lock) {
        return cluster.slot("{" + namespace + ":" + Locks.name(lock) + "}");
    }

    @Override
    RedisServer primary(Random random) {
        return cluster.owner(slot(random.nextInt(SOME_LOCKS)));
    }

    @Override
    List<RedisServer> primaries() {
        return nodes().stream()
                .filter(server -> Guess.of(() -> server.info("role").equals("master")))
                .toList();
    }

    @Override
    boolean isWhole() {
        return primaries().size() == PRIMARIES
                && super.isWhole()
                && nodes().stream()
                        .allMatch(server -> server.command("CLUSTER", "INFO").contains("cluster_state:ok"));
    }

    @Override
    List<RedisServer> nodes() {
        return cluster.servers();
    }

    @Override
    public void close() {
        cluster.close();
    }
}
