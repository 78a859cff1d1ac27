package dev.lockstep.torture;

import dev.lockstep.servers.HostFaults;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One Redis server that writes all down. */
final class RedisTarget implements Target {
    private final Optional<HostFaults> host = ServerFaults.host();
    private final RedisServer server;
    private long lostDataNanos = System.nanoTime() - 3 * ttl().toNanos();

    RedisTarget() {
        RedisServer.Builder builder = RedisServer.builder().persistent();
        server = host.map(builder::on).orElse(builder).start();
    }

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public Duration ttl() {
        return Duration.ofMillis(1_500);
    }

    @Override
    public List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    public String url(List<Integer> ports) {
        return "redis://" + ServerProcess.HOST + ":" + ports.get(0) + "?waiterExpiry=1s";
    }

    @Override
    public List<Fault> faults() {
        List<Fault> faults = new ArrayList<>(ServerFaults.of(server));
        faults.add(ServerFaults.slowDisk(random -> server));
        faults.addAll(ServerFaults.ofFullDisk(host, server::start));
        ServerFaults.ofClock(host, ttl()).stream()
                .map(this::notSoonAfterDataLoss)
                .forEach(faults::add);
        faults.addAll(ServerFaults.ofRedis(random -> server));
        faults.add(Fault.of("memory full", Length.SHORT, random -> {
            server.command("CONFIG", "SET", "maxmemory", "1");
            return Injected.all("server", () -> server.command("CONFIG", "SET", "maxmemory", "0"));
        }));
        faults.add(Fault.of("restart without data", Length.SHORT, random -> {
                    host.ifPresent(HostFaults::awaitNewTime); // both at once is what no token survives
                    server.command("FLUSHALL");
                    lostDataNanos = System.nanoTime();
                    server.kill();
                    return Injected.all("server", server::start);
                })
                .excusing(Rule.EXCLUSION, Rule.ORDER));
        return faults;
    }

    /** Waits until a clock that is set back shows a time after the last loss: no token survives both, as docs/guarantees.md says. */
    private Fault notSoonAfterDataLoss(Fault clock) {
        return new Fault(clock.kind(), clock.length(), clock.excuses(), random -> {
            Parking.forNanos(lostDataNanos + 3 * ttl().toNanos() - System.nanoTime());
            return clock.injection().inject(random);
        });
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.after(ttl().multipliedBy(3), () -> Leftovers.keys(server));
    }

    @Override
    public void close() {
        server.close();
        host.ifPresent(HostFaults::close);
    }
}
