package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.LockListener;
import dev.lockstep.internal.SimClients;
import dev.lockstep.logs.ThreadLogs;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One history: clients that lock and unlock at random while faults happen to them, then a time in which everything heals,
 * then an end at which nothing may be left. The seed decides everything, so one seed is always the same history.
 */
final class History {
    /** How long everybody who waits may still wait once all is well. */
    private static final long HEALING = Setup.TTL + 400 * MILLI;

    private static final LockListener LISTENER = new LockListener() {};

    private final long seed;
    private final World world;
    private final Setup setup;
    private final LockServer server;
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
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = new Node(i, world, setup);
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
        }
    }

    private void open(Node node) {
        SimBackend backend = new SimBackend(node, world, setup, server);
        node.backend = backend;
        node.client = SimClients.open(
                context -> backend,
                Duration.ofNanos(Setup.TTL),
                Duration.ofNanos(Setup.REQUEST_TIMEOUT),
                node,
                node,
                "node" + node.index + "-" + ++opened,
                setup.listens ? List.of(LISTENER) : List.of());
        actors.opened(node);
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
        int kind = world.below(6);
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
        SimBackend backend = node.backend();
        backend.answerAtOnce();
        node.client().close();
        if (!backend.closed) {
            world.violate("a closed client did not close its backend");
        }
        oracle.checkClaims(backend);
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

    /** All faults end; whoever holds lets go soon; whoever waits must be served, or is cancelled. */
    private void heal() {
        world.trace("heal", -1, 0, 0);
        for (Node node : nodes) {
            node.heal();
            if (node.isOpen()) {
                node.backend().heal();
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
                oracle.checkClaims(node.backend());
                for (int name = 0; name < setup.names; name++) {
                    if (!SimClients.isIdle(node.client(), Integer.toString(name))) {
                        world.violate("Z: node " + node.index + " still has something of name " + name);
                    }
                }
            }
        }
        if (world.violation() == null) {
            oracle.checkServer(server);
        }
        for (Node node : nodes) {
            if (world.violation() == null && node.isOpen()) {
                close(node);
            }
        }
        if (world.violation() == null) {
            world.runUntil(world.now() + 4 * Setup.TTL);
            oracle.checkServer(server);
            if (world.pending() > 0) {
                world.violate("Z: " + world.pending() + " timers are left");
            }
        }
    }

    @Override
    public String toString() {
        return "History[" + seed + "]";
    }
}
