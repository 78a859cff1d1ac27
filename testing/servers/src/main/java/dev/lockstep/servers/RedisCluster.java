package dev.lockstep.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A Redis Cluster. Thread-safe. */
public final class RedisCluster extends ServerGroup<RedisServer> {
    private static final int SLOTS = 16_384;
    private static final Duration MOVE_TIMEOUT = Duration.ofSeconds(30);

    private RedisCluster(List<RedisServer> nodes) {
        super(nodes);
    }

    static RedisCluster start(List<RedisServer> nodes, int primaries) {
        ServerProcess.startAll(nodes);
        RedisCluster cluster = new RedisCluster(nodes);
        ServerProcess.orClose(cluster, () -> cluster.join(primaries));
        return cluster;
    }

    private void join(int primaries) {
        for (int i = 0; i < servers().size(); i++) {
            RedisServer node = get(i);
            node.command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
            if (i < primaries) {
                node.command(addSlots(SLOTS * i / primaries, SLOTS * (i + 1) / primaries));
            }
            node.command("CLUSTER", "MEET", ServerProcess.HOST, Integer.toString(get(0).port()));
        }
        await("knows all others", "cluster_known_nodes:" + servers().size());
        for (int i = primaries; i < servers().size(); i++) {
            String primary = id(get(i % primaries));
            RedisServer replica = get(i);
            Await.until(
                    replica + " knows its primary",
                    RedisServer.START_TIMEOUT,
                    () -> replica.command("CLUSTER", "NODES").contains(primary + " " + ServerProcess.HOST));
            replica.command("CLUSTER", "REPLICATE", primary);
            replica.awaitLink();
        }
        await("serves all slots", "cluster_state:ok");
    }

    private static String[] addSlots(int from, int to) {
        List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
        for (int slot = from; slot < to; slot++) {
            command.add(Integer.toString(slot));
        }
        return command.toArray(new String[0]);
    }

    private void await(String what, String line) {
        for (RedisServer node : servers()) {
            Await.until(
                    node + " " + what,
                    RedisServer.START_TIMEOUT,
                    () -> node.command("CLUSTER", "INFO").lines().anyMatch(line::equals));
        }
    }

    /**
     * The slot that a key is in.
     *
     * @param key the key, hash tag included
     * @return a number from 0 to 16,383
     */
    public int slot(String key) {
        return Integer.parseInt(find(RedisServer::isAlive).command("CLUSTER", "KEYSLOT", key));
    }

    /**
     * The node that serves a slot now, as the first running node sees it.
     *
     * @param slot the slot's number
     * @return the primary
     * @throws ServerException if nobody serves it
     */
    public RedisServer owner(int slot) {
        List<String> nodes =
                find(RedisServer::isAlive).command("CLUSTER", "NODES").lines().toList();
        for (String node : nodes) {
            String[] words = node.split(" ", -1);
            for (int i = 8; i < words.length; i++) {
                if (contains(words[i], slot) && !words[2].contains("fail")) {
                    return find(server -> words[1].startsWith(server.address() + "@"));
                }
            }
        }
        throw new ServerException("nobody serves slot " + slot);
    }

    /** Returns whether a range such as {@code 5-10} or {@code 7} contains a slot; one in brackets is on its way elsewhere. */
    private static boolean contains(String range, int slot) {
        if (range.isEmpty() || range.startsWith("[")) {
            return false;
        }
        int dash = range.indexOf('-');
        int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
        int last = Integer.parseInt(range.substring(dash + 1));
        return first <= slot && slot <= last;
    }

    /**
     * Moves a slot with its keys to another primary, as resharding does.
     *
     * @param slot the slot's number
     * @param target the primary that will serve it
     */
    public void moveSlot(int slot, RedisServer target) {
        RedisServer source = owner(slot);
        String number = Integer.toString(slot);
        String to = id(target);
        String from = id(source);
        // A move that has begun is tried until it is done: half a move would leave keys where no client looks for them.
        Await.until("slot " + slot + " has moved", MOVE_TIMEOUT, () -> {
            target.command("CLUSTER", "SETSLOT", number, "IMPORTING", from);
            source.command("CLUSTER", "SETSLOT", number, "MIGRATING", to);
            for (List<String> keys = keys(source, number); !keys.isEmpty(); keys = keys(source, number)) {
                for (String key : keys) {
                    source.command(
                            "MIGRATE",
                            ServerProcess.HOST,
                            Integer.toString(target.port()),
                            key,
                            "0",
                            "5000",
                            "REPLACE");
                }
            }
            return true;
        });
        for (RedisServer each : List.of(target, source)) {
            Await.until(each + " knows of it", MOVE_TIMEOUT, () -> {
                each.command("CLUSTER", "SETSLOT", number, "NODE", to);
                return true;
            });
        }
    }

    private static List<String> keys(RedisServer source, String slot) {
        String keys = source.command("CLUSTER", "GETKEYSINSLOT", slot, "1000");
        return keys.isEmpty() ? List.of() : keys.lines().toList();
    }

    private static String id(RedisServer node) {
        return node.command("CLUSTER", "MYID");
    }
}
