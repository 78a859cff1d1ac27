package dev.lockstep.internal.sim;

import dev.lockstep.LockClient;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** One process with one client: its own clock, its own timers, its own executor, its own end of the network. */
final class Node implements Scheduler, Executor {
    final int index;
    private final World world;
    private final Setup setup;

    /** Clocks have their own origins; some overflow soon. */
    private final long origin;

    private long pausedUntil;
    private long cutUntil;
    private long lastTask;

    /** What was due while this node was paused. */
    final List<World.Event> late = new ArrayList<>();

    /** Grants of each name that the core was told of. */
    final int[] told;

    /** Since when a grant of each name has been kept for nobody; -1 if none is. Kept by the oracle. */
    final long[] idleSince;

    @Nullable
    LockClient client;

    @Nullable
    SimBackend backend;

    Node(int index, World world, Setup setup) {
        this.index = index;
        this.world = world;
        this.setup = setup;
        this.told = new int[setup.names];
        this.idleSince = new long[setup.names];
        Arrays.fill(idleSince, -1);
        this.origin = index == 0 ? Long.MAX_VALUE - world.time(1000 * World.MILLI) : world.random.nextLong();
    }

    LockClient client() {
        LockClient known = client;
        if (known == null) {
            throw new IllegalStateException("not open");
        }
        return known;
    }

    SimBackend backend() {
        SimBackend known = backend;
        if (known == null) {
            throw new IllegalStateException("not open");
        }
        return known;
    }

    boolean isOpen() {
        return client != null;
    }

    boolean isPaused() {
        return pausedUntil > world.now();
    }

    /** Stops everything on this node for a time; what was due meanwhile comes late. */
    void pause(long time) {
        pausedUntil = world.now() + time;
        world.after(time, null, this::resume);
    }

    private void resume() {
        if (!isPaused()) {
            world.catchUp(late);
        }
    }

    boolean isCut() {
        return cutUntil > world.now();
    }

    void cut(long time) {
        cutUntil = world.now() + time;
    }

    long faultyUntil() {
        return Math.max(pausedUntil, cutUntil);
    }

    void heal() {
        pausedUntil = 0;
        cutUntil = 0;
        resume();
    }

    @Override
    public long nanoTime() {
        return origin + world.now();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        return world.after(delayNanos, this, task)::cancel;
    }

    /** Runs users' code at once, or later, but always in order. */
    @Override
    public void execute(Runnable task) {
        if (setup.directExecutor) {
            task.run();
            return;
        }
        lastTask = Math.max(lastTask, world.now() + world.time(2 * World.MILLI));
        world.after(lastTask - world.now(), this, task);
    }
}
