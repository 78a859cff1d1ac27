package dev.lockstep.torture;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.LockClient;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;

/** The memory engine, with all workers in this JVM, and with or without a bug that was planted in its backends. */
final class MemoryRig implements Rig {
    private final MemoryEngine engine = new MemoryEngine();
    private final UnaryOperator<BackendFactory> wrap;
    private final UnaryOperator<LockClient> wrapClient;
    private final Duration ttl;
    private final List<Integer> clients = new ArrayList<>();
    private int locks;

    /**
     * Makes an engine.
     *
     * @param wrap what stands between the core and each client's backend
     * @param wrapClient what stands between a worker and its client
     */
    MemoryRig(Duration ttl, UnaryOperator<BackendFactory> wrap, UnaryOperator<LockClient> wrapClient) {
        this.ttl = ttl;
        this.wrap = wrap;
        this.wrapClient = wrapClient;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public Duration ttl() {
        return ttl;
    }

    @Override
    public Duration recovery() {
        return requestTimeout(); // the engine in this JVM needs no retries
    }

    @Override
    public Duration pause() {
        return Duration.ofMillis(10); // without it, some hours would make more sections than fit into memory
    }

    private Duration requestTimeout() {
        return ttl.multipliedBy(3);
    }

    @Override
    public List<Hand> start(Observer observer, List<Worker.Plan> plans) {
        List<Hand> hands = new ArrayList<>();
        for (Worker.Plan plan : plans) {
            clients.add(plan.client());
            locks = plan.locks();
            hands.add(new LocalHand(
                    name(plan.client()),
                    plan,
                    () -> wrapClient.apply(connect(name(plan.client()), wrap.apply(engine))),
                    observer));
        }
        return hands;
    }

    private static String name(int client) {
        return "client-" + client;
    }

    private LockClient connect(String name, BackendFactory backend) {
        return LockClient.builder()
                .backend(backend)
                .ttl(ttl)
                .requestTimeout(requestTimeout())
                .clientName(name)
                .deadlocks(DeadlockPolicy.FAIL)
                .recordWaitsAfter(Worker.RECORD_WAITS_AFTER)
                .connect();
    }

    @Override
    public List<Fault> faults() {
        return List.of(
                onOne("requests lost", Length.ANY, client -> outage(client, MemoryEngine.Outage.REQUESTS_LOST)),
                onOne("replies lost", Length.ANY, client -> outage(client, MemoryEngine.Outage.REPLIES_LOST)),
                onOne("replies late", Length.ANY, this::late),
                onOne("session ended", Length.MOMENT, client -> {
                    engine.expireSession(name(client));
                    return Fault.Act.NONE;
                }),
                Fault.of("engine away", Length.ANY, random -> {
                    engine.disconnect(MemoryEngine.Outage.REQUESTS_LOST);
                    return Injected.all("engine", engine::reconnect);
                }),
                Fault.of("lock revoked", Length.MOMENT, random -> {
                    int lock = random.nextInt(new Resources(locks).semaphore() + 1);
                    engine.revoke(Locks.name(lock));
                    return Injected.lock(lock);
                }));
    }

    /** Does something to a client. */
    private interface Harm {
        Fault.Act inflict(int client);
    }

    private Fault onOne(String kind, Length length, Harm harm) {
        return Fault.of(kind, length, (Random random) -> {
            int first = random.nextInt(clients.size());
            for (int i = 0; i < clients.size(); i++) {
                int client = clients.get((first + i) % clients.size());
                try {
                    return Injected.client(name(client), client, harm.inflict(client));
                } catch (IllegalArgumentException e) {
                    // It is being opened again.
                }
            }
            throw new IOException("no client is open");
        });
    }

    private static void ifOpen(Runnable heal) {
        try {
            heal.run();
        } catch (IllegalArgumentException e) {
            // It is another client by now, which nobody hurt.
        }
    }

    private Fault.Act outage(int client, MemoryEngine.Outage kind) {
        engine.disconnect(name(client), kind);
        return () -> ifOpen(() -> engine.reconnect(name(client)));
    }

    private Fault.Act late(int client) {
        engine.delayReplies(name(client), ttl.dividedBy(3));
        return () -> ifOpen(() -> engine.delayReplies(name(client), Duration.ZERO));
    }

    @Override
    public LockClient connect() {
        return connect("torturer", engine);
    }

    @Override
    public List<String> leftovers() {
        List<String> left = new ArrayList<>();
        if (!Parking.until(() -> engine.lockCount() == 0, ttl.multipliedBy(2))) {
            left.add(engine.lockCount() + " locks at the engine");
        }
        if (!Parking.until(() -> engine.sessionCount() == 0, ttl.multipliedBy(2))) {
            left.add(engine.sessionCount() + " sessions at the engine");
        }
        return left;
    }

    @Override
    public void close() {}
}
