package dev.lockstep.internal.sim;

import dev.lockstep.LockClient;
import dev.lockstep.spi.Scheduler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** One process with one client: its own clock, its own timers, its own executor, its own end of the network. */
final class Node implements Scheduler, Executor {
    final int index;
    private final World world;
    private final Setup setup;

    /** Clocks have their own origins; some overflow soon. */
    private final long origin;

    private long pausedUntil;
    private long resumedAt;
    private long cutUntil;
    private long otherCutUntil;
    private long refusedUntil;
    private long lastTask;

    /** The work that was due while this node was paused. */
    final List<World.Event> late = new ArrayList<>();

    /** Grants of each name that were reported to the core. */
    final int[] told;

    /** Since when a grant of each name has been kept for nobody; -1 if none is. Kept by the oracle. */
    final long[] idleSince;

    @Nullable
    LockClient client;

    @Nullable
    SimBackend backend;

    /** Of the engine to fall back to. */
    @Nullable
    SimBackend other;

    /** Whether the client has reported that it is in fallback, and not yet that it has left it. */
    AtomicBoolean inFallback = new AtomicBoolean();

    Node(int index, World world, Setup setup) {
        this(
                index,
                world,
                setup,
                index == 0 ? Long.MAX_VALUE - world.time(1000 * World.MILLI) : world.random.nextLong());
    }

    /** A node whose clock has a given origin. */
    Node(int index, World world, Setup setup, long origin) {
        this.index = index;
        this.world = world;
        this.setup = setup;
        this.told = new int[setup.names];
        this.idleSince = new long[setup.names];
        Arrays.fill(idleSince, -1);
        this.origin = origin;
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

    /** Of the engine, and of the one to fall back to if there is one. */
    List<SimBackend> backends() {
        SimBackend fallback = other;
        return fallback == null ? List.of(backend()) : List.of(backend(), fallback);
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
            resumedAt = world.now();
            world.catchUp(late);
        }
    }

    /** Since when it runs without a pause. */
    long resumedAt() {
        return resumedAt;
    }

    boolean isCut() {
        return cutUntil > world.now();
    }

    void cut(long time) {
        cutUntil = world.now() + time;
    }

    /** Whether the engine to fall back to is out of reach. */
    boolean isOtherCut() {
        return otherCutUntil > world.now();
    }

    void cutOther(long time) {
        otherCutUntil = world.now() + time;
    }

    /** Whether the engine answers that it cannot do what it is asked for. */
    boolean isRefused() {
        return refusedUntil > world.now();
    }

    void refuse(long time) {
        refusedUntil = world.now() + time;
    }

    long faultyUntil() {
        return Math.max(Math.max(pausedUntil, cutUntil), Math.max(otherCutUntil, refusedUntil));
    }

    void heal() {
        pausedUntil = 0;
        cutUntil = 0;
        otherCutUntil = 0;
        refusedUntil = 0;
        resume();
    }

    @Override
    public long nanoTime() {
        return origin + world.now();
    }

    /** Wall clocks differ by some milliseconds. */
    @Override
    public Instant wallTime() {
        return Instant.EPOCH.plusNanos(world.now() + 7L * index * World.MILLI);
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
