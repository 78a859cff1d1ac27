package dev.lockstep.torture;

import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerException;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One Redis server that writes all down. */
final class RedisTarget implements Target {
    private final Machines machine = new Machines(1);
    private final RedisServer server;

    RedisTarget() {
        RedisServer.Builder builder = RedisServer.builder().persistent();
        server = machine.get(0).map(builder::on).orElse(builder).start();
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
        faults.addAll(machine.slowDisks());
        faults.addAll(machine.fullDisks(place -> server.start())); // it ends, since each write must be safe
        machine.fullDisks(place -> {}).stream().map(this::refusing).forEach(faults::add);
        faults.addAll(machine.clocksThatCount(ttl()));
        faults.addAll(ServerFaults.ofRedis(random -> server));
        Fault emptied = Fault.of("restart without data", Length.SHORT, random -> {
            Injected emptiedServer = Injected.all("server", server::start);
            try {
                server.command("FLUSHALL");
            } catch (ServerException e) {
                throw new Fault.UnconfirmedException(emptiedServer, e); // if it was done, it hurt all
            }
            server.kill();
            return emptiedServer;
        });
        faults.add(machine.losingData(emptied.excusing(Rule.EXCLUSION, Rule.ORDER)));
        return faults;
    }

    /** A full disk that it does not take for the end: then it refuses to write. */
    private Fault refusing(Fault full) {
        return Fault.of(full.kind() + ", writes refused", full.length(), random -> {
            server.command("CONFIG", "SET", "appendfsync", "everysec");
            Injected injected = full.injection().inject(random);
            return Injected.all(injected.target(), () -> {
                injected.heal().run();
                server.command("CONFIG", "SET", "appendfsync", "always");
            });
        });
    }

    @Override
    public List<String> leftovers() {
        return Leftovers.after(ttl().multipliedBy(3), () -> Leftovers.keys(server));
    }

    @Override
    public void close() {
        server.close();
        machine.close();
    }
}
