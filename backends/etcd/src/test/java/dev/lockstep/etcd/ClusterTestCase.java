package dev.lockstep.etcd;

import dev.lockstep.LockClient;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** Tests on a cluster of three, which each class has for itself and which is repaired after each test. */
abstract class ClusterTestCase extends EtcdTestCase {
    @AutoClose
    static ServerGroup<EtcdServer> cluster;

    @BeforeAll
    static void startCluster() {
        cluster = Servers.require(() -> EtcdServer.builder().startCluster(3));
        warmUp(cluster.addresses());
    }

    @AfterEach
    void mendCluster() {
        cluster.servers().parallelStream().forEach(member -> {
            if (member.isAlive()) {
                member.resume();
            }
            member.start();
        });
        awaitLeader(cluster.servers());
    }

    /** The URL of some members. */
    static String url(List<EtcdServer> members) {
        return "etcd://"
                + String.join(",", members.stream().map(EtcdServer::address).toList());
    }

    static EtcdServer awaitLeader(List<EtcdServer> members) {
        EtcdServer[] leader = new EtcdServer[1];
        await("a leader", () -> {
            for (EtcdServer member : members) {
                if (member.isLeader()) {
                    leader[0] = member;
                    return true;
                }
            }
            return false;
        });
        return leader[0];
    }

    static List<EtcdServer> others(EtcdServer member) {
        List<EtcdServer> others = new ArrayList<>(cluster.servers());
        others.remove(member);
        return others;
    }

    LockClient connect() {
        return connect("etcd://" + cluster.addresses());
    }

    LockClient connect(Duration ttl, List<EtcdServer> members) {
        return closedAfterwards(builder().url(url(members)).ttl(ttl).connect());
    }
}
