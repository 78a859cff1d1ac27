package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.LockListener;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.sim.Setup.Fallback;
import dev.lockstep.internal.turnstile.SimClients;
import dev.lockstep.logs.ThreadLogs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One history: clients that lock and unlock at random while faults happen to them, then a time in which everything heals,
 * then an end at which nothing may be left. The seed decides everything, so one seed is always the same history.
 */
final class History {
    /** How long a waiter may still wait after all faults have ended. */
    private static final long HEALING = Setup.TTL + 400 * MILLI;

    private final long seed;
    private final World world;
    private final Setup setup;
    private final LockServer server;

    /** The engines to fall back to, by node. */
    private final LockServer[] others;

    private final Oracle oracle;
    private final Node[] nodes;
    private final Actors actors;
    private int steps;
    private int opened;

    private History(long seed, boolean recording) {
        this.seed = seed;
        world = new World(seed, recording);
        setup = new Setup(world);
        oracle = new Oracle(world, setup);
        server = new LockServer(world, setup, oracle);
        nodes = new Node[setup.nodes];
        others = new LockServer[setup.nodes];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = new Node(i, world, setup);
            others[i] = i > 0 && setup.fallback == Fallback.SHARED ? others[0] : new LockServer(world, setup, oracle);
        }
        actors = new Actors(world, setup, oracle);
    }

    /**
     * Runs the history of a seed.
     *
     * @return null if it was as it should be, else what was wrong, with the end of its trace
     */
    static @Nullable String run(long seed) {
        History history = new History(seed, false);
        if (history.play() == null) {
            return null;
        }
        History again = new History(seed, true);
        String violation = again.play();
        String replay = again.world.hash() == history.world.hash() ? "" : " (and its replay differs)";
        return "seed " + seed + replay + ": " + violation + "\n"
                + again.world.tail(Integer.getInteger("lockstep.sim.trace", 60));
    }

    /** The hash of the trace of a seed's history. */
    static long hash(long seed) {
        History history = new History(seed, false);
        history.play();
        return history.world.hash();
    }

    private @Nullable String play() {
        ThreadLogs.onError(world::violate);
        try {
            for (Node node : nodes) {
                open(node);
            }
            world.after(0, null, this::act);
            while (steps < setup.steps && world.violation() == null && world.step()) {
                check();
            }
            outlast();
            if (world.violation() == null) {
                heal();
            }
            if (world.violation() == null) {
                end();
            }
        } catch (RuntimeException | Error e) {
            world.violate("unexpected " + e + " at "
                    + List.of(e.getStackTrace()).subList(0, Math.min(12, e.getStackTrace().length)));
        } finally {
            ThreadLogs.onError(null);
        }
        return world.violation();
    }

    private void check() {
        for (Node node : nodes) {
            oracle.checkStep(node);
            if (node.isOpen()) {
                SimClients.checkInvariants(node.client());
            }
        }
    }

    private void open(Node node) {
        SimBackend backend = new SimBackend(node, world, setup, server, Wire.Kind.ENGINE);
        node.backend = backend;
        SimBackend other = null;
        if (setup.fallback != Fallback.NONE) {
            Wire.Kind kind = setup.fallback == Fallback.OWN ? Wire.Kind.INSIDE : Wire.Kind.OTHER;
            other = new SimBackend(node, world, setup, others[node.index], kind);
            other.opened = true;
        }
        SimBackend fallback = other;
        node.other = fallback;
        node.inFallback = new AtomicBoolean();
        node.client = SimClients.open(
                context -> connected(backend),
                Duration.ofNanos(Setup.TTL),
                Duration.ofNanos(Setup.REQUEST_TIMEOUT),
                node,
                node,
                "node" + node.index + "-" + ++opened,
                setup.listens ? List.of(new Listener(node, backend)) : List.of(),
                fallback == null ? null : context -> fallback,
                Duration.ofNanos(setup.fallbackAfter));
        actors.opened(node);
    }

    /** A client with a fallback may begin while its engine is gone. */
    private SimBackend connected(SimBackend backend) {
        if (setup.fallback != Fallback.NONE && backend.wire.isCut()) {
            world.trace("not connected", backend.node.index, 0, 0);
            throw new LockUnavailableException(null, "unreachable");
        }
        backend.opened = true;
        return backend;
    }

    /** Hears of the switches of a node's client, the last of them after it was closed, when the node may have a new one. */
    private final class Listener implements LockListener {
        private final Node node;
        private final SimBackend backend;
        private final AtomicBoolean inFallback;

        Listener(Node node, SimBackend backend) {
            this.node = node;
            this.backend = backend;
            this.inFallback = node.inFallback;
        }

        @Override
        public void onFallbackEntered(FallbackEntered event) {
            world.trace("fallback entered", node.index, 0, 0);
            if (inFallback.getAndSet(true)) {
                world.violate("node " + node.index + " entered its fallback twice");
            }
            if (backend.opened && event.silence().toNanos() < setup.fallbackAfter) {
                world.violate("node " + node.index + " fell back after " + event.silence() + " already");
            }
        }

        @Override
        public void onFallbackLeft(FallbackLeft event) {
            world.trace("fallback left", node.index, 0, 0);
            if (!inFallback.getAndSet(false)) {
                world.violate("node " + node.index + " left a fallback in which it was not");
            }
        }
    }

    // ---------------------------------------------------------------- while it lasts

    private void act() {
        if (++steps >= setup.steps) {
            return;
        }
        Node node = nodes[world.below(nodes.length)];
        if (setup.faults && world.chance(6)) {
            fault(node);
        } else if (node.isOpen() && !node.isPaused()) {
            actors.act(node);
        }
        world.after(world.time(setup.maxGap), null, this::act);
    }

    private void fault(Node node) {
        if (!node.isOpen()) {
            return;
        }
        if (world.chance(15)) {
            world.trace("refuse", node.index, 0, 0);
            node.refuse(world.time(2 * Setup.TTL));
            return;
        }
        int kind = world.below(setup.fallback == Fallback.NONE ? 6 : 8);
        world.trace("fault", node.index, kind, 0);
        switch (kind) {
            case 0, 1 -> node.cut(world.time(world.chance(50) ? 60 * MILLI : 2 * Setup.TTL));
            case 2 -> {
                long time = world.time(world.chance(50) ? 60 * MILLI : 2 * Setup.TTL);
                node.pause(time);
                world.after(time, null, () -> actors.wakes(node));
            }
            case 3 -> {
                oracle.operatorEndedGrants = true;
                node.backend().killSession();
            }
            case 4 -> {
                oracle.operatorEndedGrants = true;
                server.revoke(server.locks[world.below(setup.names)]);
            }
            case 6 -> node.cut(world.time(2 * Setup.TTL)); // more of what makes a client fall back
            case 7 -> node.cutOther(world.time(60 * MILLI));
            default -> {
                if (!node.isPaused()) {
                    close(node);
                    world.after(world.time(20 * MILLI), node, () -> {
                        if (!node.isOpen()) {
                            open(node);
                        }
                    });
                }
            }
        }
    }

    private void close(Node node) {
        world.trace("close", node.index, 0, 0);
        List<SimBackend> backends = node.backends();
        backends.forEach(SimBackend::answerAtOnce);
        node.client().close();
        for (SimBackend backend : backends) {
            if (backend.opened && !backend.closed) {
                world.violate("a closed client did not close its backend");
            }
            oracle.checkClaims(backend);
        }
        actors.closed(node);
        for (int name = 0; name < setup.names; name++) {
            if (!SimClients.isDrained(node.client(), Integer.toString(name))) {
                world.violate("Z: node " + node.index + " was closed with something of name " + name);
            }
        }
        node.client = null;
    }

    // ---------------------------------------------------------------- afterwards

    /** Half of the time faults are left to end by themselves. */
    private void outlast() {
        long end = 0;
        for (Node node : nodes) {
            end = Math.max(end, node.faultyUntil());
        }
        if (world.chance(50)) {
            while (world.violation() == null && world.now() <= end && world.step()) {
                check();
            }
        }
    }

    /** All faults end; holders release soon; waiters must be served, or are cancelled. */
    private void heal() {
        world.trace("heal", -1, 0, 0);
        for (Node node : nodes) {
            node.heal();
            if (node.isOpen()) {
                node.backends().forEach(SimBackend::heal);
            }
        }
        actors.finish(world.chance(40));
        long end = world.now() + HEALING;
        while (world.violation() == null && world.now() < end && world.step()) {
            check();
        }
        actors.checkServed();
    }

    /** Nothing is left. */
    private void end() {
        world.runUntil(world.now() + 4 * Setup.TTL);
        for (Node node : nodes) {
            if (world.violation() == null && node.isOpen()) {
                node.backends().forEach(oracle::checkClaims);
                if (node.inFallback.get()) {
                    world.violate("node " + node.index + " is still in fallback though its engine answers");
                }
                for (int name = 0; name < setup.names; name++) {
                    if (!SimClients.isIdle(node.client(), Integer.toString(name))) {
                        world.violate("Z: node " + node.index + " still has something of name " + name);
                    }
                }
            }
        }
        if (world.violation() == null) {
            checkServers();
        }
        for (Node node : nodes) {
            if (world.violation() == null && node.isOpen()) {
                close(node);
            }
        }
        if (world.violation() == null) {
            world.runUntil(world.now() + 4 * Setup.TTL);
            checkServers();
            if (world.pending() > 0) {
                world.violate("Z: " + world.pending() + " timers are left");
            }
        }
    }

    private void checkServers() {
        oracle.checkServer(server);
        for (LockServer other : others) {
            oracle.checkServer(other);
        }
    }

    @Override
    public String toString() {
        return "History[" + seed + "]";
    }
}
