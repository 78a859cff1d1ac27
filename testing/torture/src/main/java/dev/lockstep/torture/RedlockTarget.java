package dev.lockstep.torture;

import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** Three independent Redis servers, which forget all when they end. */
final class RedlockTarget implements Target {
    private static final int SERVERS = 3;

    private final List<RedisServer> servers = new ArrayList<>();
    private final Machines machines = new Machines(SERVERS);

    RedlockTarget() {
        try {
            for (int i = 0; i < SERVERS; i++) {
                RedisServer.Builder builder = RedisServer.builder();
                servers.add(machines.get(i).map(builder::on).orElse(builder).start());
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    public String name() {
        return "redlock";
    }

    @Override
    public Duration ttl() {
        return Duration.ofMillis(1_500);
    }

    @Override
    public List<Integer> ports() {
        return servers.stream().map(ServerProcess::port).toList();
    }

    @Override
    public String url(List<Integer> ports) {
        return ports.stream()
                .map(port -> ServerProcess.HOST + ":" + port)
                .collect(Collectors.joining(",", "redlock://", ""));
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(ServerFaults.ofRedis(this::any));
        faults.add(ServerFaults.paused("one server paused", Length.ANY, this::any));
        faults.add(machines.losingData(ServerFaults.killed("one server killed", this::any)));
        faults.add(machines.losingData(Fault.of("majority killed", Length.SHORT, random -> {
            List<RedisServer> most = new ArrayList<>(servers);
            most.remove(any(random));
            most.forEach(RedisServer::kill);
            return Injected.all(most.toString(), () -> most.forEach(RedisServer::start));
        })));
        faults.add(machines.losingData(Fault.of("one server restarted without data", Length.MOMENT, random -> {
            RedisServer server = any(random);
            server.kill();
            return Injected.all(server.toString(), server::start);
        })));
        faults.addAll(machines.clocksThatCount(ttl()));
        return faults;
    }

    private RedisServer any(Random random) {
        return servers.get(random.nextInt(servers.size()));
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.after(
                ttl().multipliedBy(3),
                () -> servers.stream()
                        .flatMap(server -> Leftovers.keys(server).stream())
                        .toList());
    }

    @Override
    public void close() {
        servers.forEach(RedisServer::close);
        machines.close();
    }
}
