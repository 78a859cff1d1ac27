package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.LockClient;
import dev.lockstep.internal.turnstile.SimClients;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.memory.MemoryEngine;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A history of elections, semaphores or deadlocks on the memory engine: clients that use them at random while they are paused and cut
 * off, then a time in which everything heals, then an end at which nothing may be left. The seed decides everything.
 */
abstract class RecipeWorld {
    static final String NAME = "recipe";
    static final long TTL = 100 * MILLI;
    static final long TIMEOUT = 60 * MILLI;
    static final long RECORD_AFTER = 20 * MILLI;
    private static final int STEPS = 60;
    private static final long ORIGIN = Long.MAX_VALUE - 500 * MILLI;

    final World world;
    final Node[] nodes;
    final LockClient[] clients;

    /** A client that nothing happens to. The engine's timers are its guests. */
    final LockClient observer;

    final MemoryEngine engine = new MemoryEngine();
    private int steps;
    private boolean healing;

    RecipeWorld(long seed, boolean recording) {
        world = new World(seed, recording);
        Setup setup = new Setup(world);
        observer = open(new Node(0, world, setup, ORIGIN));
        nodes = new Node[2 + world.below(3)];
        clients = new LockClient[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = new Node(i + 1, world, setup, ORIGIN);
            clients[i] = open(nodes[i]);
        }
    }

    private LockClient open(Node node) {
        return SimClients.openSteady(
                engine,
                Duration.ofNanos(TTL),
                Duration.ofNanos(TIMEOUT),
                node,
                node,
                id(node),
                Duration.ofNanos(RECORD_AFTER));
    }

    static String id(Node node) {
        return "node-" + node.index;
    }

    /** How many steps of a hundred are faults, of each of two kinds. */
    int faults() {
        return 12;
    }

    /** Something that users do. */
    abstract void act(int node);

    /** From here on nothing goes wrong, and users end what they have begun. */
    abstract void finish();

    /** All is well for a long time: what must have happened? */
    abstract void checkServed();

    /** Users are gone: releases what is left. */
    abstract void leave();

    @Nullable
    String play() {
        ThreadLogs.onError(message -> {
            if (!message.contains("the task failed")) {
                world.violate(message);
            }
        });
        try {
            world.after(0, null, this::step);
            while (!healing && world.violation() == null && world.step()) {
                // The next one.
            }
            heal();
            finish();
            run(TTL + 10 * TIMEOUT);
            checkServed();
            leave();
            run(TTL + 5 * TIMEOUT);
            if (engine.lockCount() > 0) {
                world.violate("something is left at the engine: " + observer.list(""));
            }
        } catch (RuntimeException | Error e) {
            world.violate("unexpected " + e + " at "
                    + List.of(e.getStackTrace()).subList(0, Math.min(12, e.getStackTrace().length)));
        } finally {
            ThreadLogs.onError(null);
        }
        return world.violation();
    }

    private void run(long time) {
        world.runUntil(world.now() + time);
    }

    private void step() {
        if (++steps > STEPS) {
            healing = true;
            return;
        }
        int node = world.below(nodes.length);
        int choice = world.below(100);
        if (choice < faults()) {
            pause(nodes[node], 1 + world.time(2 * TTL));
        } else if (choice < 2 * faults()) {
            cut(nodes[node], 1 + world.time(2 * TTL));
        } else if (!nodes[node].isPaused()) {
            act(node);
        }
        world.after(world.time(25 * MILLI), null, this::step);
    }

    /** A paused process sees no message, and its timers are late. */
    private void pause(Node node, long time) {
        if (!node.isPaused()) {
            world.trace("pause", node.index, time, 0);
            node.pause(time);
            cut(node, time + world.time(MILLI));
        }
    }

    private void cut(Node node, long time) {
        if (node.isCut()) {
            return;
        }
        world.trace("cut off", node.index, time, 0);
        node.cut(time);
        engine.disconnect(
                id(node), world.chance(50) ? MemoryEngine.Outage.REQUESTS_LOST : MemoryEngine.Outage.REPLIES_LOST);
        world.after(time, null, () -> {
            if (!healing) {
                engine.reconnect(id(node));
            }
        });
    }

    /** Whether nothing has happened to a node for a time, so that what is due has been done. */
    boolean isWell(Node node, long time) {
        return !node.isPaused() && !node.isCut() && world.now() - node.resumedAt() > time;
    }

    private void heal() {
        for (Node node : nodes) {
            node.heal();
            engine.reconnect(id(node));
        }
    }
}
