package dev.lockstep.torture;

import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** An ensemble of three ZooKeeper servers. */
final class ZooKeeperTarget implements Target {
    private final ServerGroup<ZooKeeperServer> servers =
            ZooKeeperServer.builder().startEnsemble(3);

    @Override
    public String name() {
        return "zookeeper";
    }

    @Override
    public Duration ttl() {
        return Duration.ofSeconds(2);
    }

    @Override
    public List<Integer> ports() {
        return servers.servers().stream().map(ServerProcess::port).toList();
    }

    @Override
    public String url(List<Integer> ports) {
        return ports.stream()
                .map(port -> ServerProcess.HOST + ":" + port)
                .collect(Collectors.joining(",", "zookeeper://", ""));
    }

    @Override
    public List<Fault> faults() {
        return List.of(
                ServerFaults.paused("leader paused", Length.ANY, this::leader),
                ServerFaults.killed("leader killed", this::leader),
                ServerFaults.paused("follower paused", Length.ANY, this::follower),
                ServerFaults.killed("follower killed", this::follower));
    }

    private ZooKeeperServer leader(Random random) {
        return member("leader", 0);
    }

    private ZooKeeperServer follower(Random random) {
        return member("follower", random.nextInt(2));
    }

    /** A member by its role; while the ensemble has not agreed on roles, any. */
    private ZooKeeperServer member(String role, int which) {
        List<ZooKeeperServer> members = servers.servers().stream()
                .filter(server -> Guess.of(() -> server.mode().equals(role)))
                .toList();
        return members.isEmpty() ? servers.get(which) : members.get(which % members.size());
    }

    @Override
    public void close() {
        servers.close();
    }
}
