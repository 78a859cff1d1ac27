package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.internal.sim.LockServer.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The network between a node and the server. Messages take their time, overtake each other, come twice, or never. */
final class Wire {
    private final World world;
    private final Setup setup;
    private final SimBackend backend;
    private final Node node;
    private final Kind kind;

    /** Where it leads. */
    enum Kind {
        ENGINE,
        /** To the engine to fall back to. */
        OTHER,
        /** To an engine inside the node: nothing is late or lost. */
        INSIDE
    }

    /** Requests that were sent and not answered, and may be asked for at once; only some of them are done. */
    private final List<Rpc> open = new ArrayList<>();

    private boolean atOnce;
    private boolean closed;
    private boolean healed;

    Wire(World world, Setup setup, SimBackend backend, Kind kind) {
        this.world = world;
        this.setup = setup;
        this.backend = backend;
        this.node = backend.node;
        this.kind = kind;
    }

    /** Sends a request whose caller may be blocked: then it is answered, or fails, inside the call. */
    void send(Rpc rpc, Duration blockAtMost) {
        if (blockAtMost.isZero()) {
            send(rpc);
        } else if (isCut() || isRefused() || world.chance(loss())) {
            rpc.blocked();
            if (!rpc.done) {
                open.add(rpc);
                tryAgain(rpc);
            }
        } else {
            exchange(rpc);
        }
    }

    void send(Rpc rpc) {
        if (atOnce) {
            if (isCut() || isRefused()) {
                rpc.silent();
            } else {
                exchange(rpc);
            }
            return;
        }
        if (!open.contains(rpc)) {
            open.add(rpc);
        }
        attempt(rpc);
    }

    boolean isCut() {
        return kind == Kind.ENGINE ? node.isCut() : kind == Kind.OTHER && node.isOtherCut();
    }

    private boolean isRefused() {
        return kind == Kind.ENGINE && node.isRefused();
    }

    /** The whole round trip in no time. */
    private void exchange(Rpc rpc) {
        Session within = backend.session();
        long sent = node.nanoTime();
        boolean alive = backend.touch(within);
        Runnable reply = rpc.apply(within, alive);
        backend.answered(within, alive, sent);
        reply.run();
        if (!alive && !rpc.done) {
            exchange(rpc);
        }
    }

    private void attempt(Rpc rpc) {
        if (rpc.done || closed) {
            return;
        }
        if (isCut() || world.chance(loss())) {
            tryAgain(rpc);
            return;
        }
        Session within = backend.session();
        long sent = node.nanoTime();
        long delay = delay();
        if (delay == 0) {
            arrive(rpc, within, sent);
        } else {
            world.after(delay, null, () -> arrive(rpc, within, sent));
            if (world.chance(loss() / 4)) {
                world.after(world.time(60 * MILLI), node, () -> attempt(rpc));
            }
        }
    }

    private int loss() {
        return healed || kind == Kind.INSIDE ? 0 : setup.loss;
    }

    private void arrive(Rpc rpc, Session within, long sent) {
        if (isCut()) {
            tryAgain(rpc);
            return;
        }
        if (isRefused()) {
            deliver(() -> refused(rpc, sent));
            return;
        }
        boolean alive = backend.touch(within);
        Runnable reply = rpc.apply(within, alive);
        if (world.chance(loss())) {
            tryAgain(rpc);
            return;
        }
        deliver(() -> answer(rpc, within, alive, sent, reply));
    }

    private void deliver(Runnable answer) {
        long delay = delay();
        if (delay == 0 && !node.isPaused()) {
            answer.run();
        } else {
            world.after(delay, node, answer);
        }
    }

    private void refused(Rpc rpc, long sent) {
        if (closed) {
            return;
        }
        if (isCut()) {
            tryAgain(rpc);
            return;
        }
        backend.contacted(sent);
        if (!rpc.done) {
            rpc.refused();
        }
        if (rpc.done) {
            open.remove(rpc);
        } else {
            world.after(MILLI + world.time(30 * MILLI), node, () -> attempt(rpc));
        }
    }

    private void answer(Rpc rpc, Session within, boolean alive, long sent, Runnable reply) {
        if (closed) {
            return;
        }
        if (isCut()) {
            tryAgain(rpc);
            return;
        }
        backend.answered(within, alive, sent);
        if (!rpc.done) {
            reply.run();
            if (!alive && !rpc.done) {
                world.after(MILLI, node, () -> attempt(rpc));
            }
        }
        if (rpc.done) {
            open.remove(rpc);
        }
    }

    private void tryAgain(Rpc rpc) {
        if (closed) {
            return;
        }
        world.after(MILLI + world.time(30 * MILLI), node, () -> {
            if (!rpc.done && world.now() - rpc.began > Setup.REQUEST_TIMEOUT / 2) {
                rpc.silent();
            }
            attempt(rpc);
        });
    }

    /** Sends the node a message that the server was not asked for. May be lost: the node asks again anyway. */
    void push(Runnable message) {
        if (isCut() || world.chance(2 * loss())) {
            return;
        }
        long delay = delay();
        if (delay == 0 && !node.isPaused() && !closed) {
            message.run();
            return;
        }
        world.after(delay, node, () -> {
            if (!isCut() && !closed) {
                message.run();
            }
        });
    }

    private long delay() {
        if (kind == Kind.INSIDE || world.chance(setup.inline)) {
            return 0;
        }
        return 1 + (!healed && world.chance(setup.late) ? world.time(300 * MILLI) : world.time(2 * MILLI));
    }

    void heal() {
        healed = true;
    }

    void answerAtOnce() {
        flush();
        atOnce = true;
        flush();
    }

    void flush() {
        while (!open.isEmpty()) {
            Rpc rpc = open.remove(open.size() - 1);
            if (!rpc.done) {
                if (isCut() || isRefused()) {
                    rpc.silent();
                } else {
                    exchange(rpc);
                }
            }
        }
    }

    void close() {
        closed = true;
    }
}
