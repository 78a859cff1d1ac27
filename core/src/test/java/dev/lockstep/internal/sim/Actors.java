package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.SelfDeadlockException;
import dev.lockstep.internal.turnstile.SimClients;
import dev.lockstep.internal.turnstile.SimThread;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The users of the locks: what they do next is chance, what they see goes to the {@link Oracle}. */
final class Actors {
    private static final int VARIANTS = 2;

    /** How late a thread may run that was woken. */
    private static final long LATEST_LOOK = 2 * MILLI;

    /** More than the times that a waiter may be overtaken. */
    private static final int BURST = 70;

    /** More than the tokens of a grant. */
    private static final int DRAWS = 1100;

    private final World world;
    private final Setup setup;
    private final Oracle oracle;

    /** Two ways of using each name: their own maximum times and hand-offs. */
    private final LockOptions[][] options;

    private final int[] handOffs = new int[VARIANTS];
    private final long[] maxHolds = new long[VARIANTS];

    /** By node, name, mode and variant. */
    private final DistributedLock[][][][] locks;

    private boolean finishing;

    Actors(World world, Setup setup, Oracle oracle) {
        this.world = world;
        this.setup = setup;
        this.oracle = oracle;
        this.options = new LockOptions[setup.names][VARIANTS];
        this.locks = new DistributedLock[setup.nodes][setup.names][2][VARIANTS];
        for (int variant = 0; variant < VARIANTS; variant++) {
            handOffs[variant] = world.chance(40) ? 64 : world.below(4);
            maxHolds[variant] = world.chance(15) ? 1 + world.time(30 * MILLI) : 0;
            for (int name = 0; name < setup.names; name++) {
                LockOptions chosen = LockOptions.defaults().handOff(handOffs[variant]);
                chosen = maxHolds[variant] > 0 ? chosen.maxHold(Duration.ofNanos(maxHolds[variant])) : chosen;
                chosen = setup.isReentrant(name) ? chosen : chosen.nonReentrant();
                options[name][variant] = setup.isFair(name)
                        ? chosen.fair()
                        : setup.isSticky(name) ? chosen.sticky(Duration.ofNanos(setup.sticky)) : chosen;
            }
        }
    }

    void opened(Node node) {
        for (int name = 0; name < setup.names; name++) {
            for (int variant = 0; variant < VARIANTS; variant++) {
                var both = node.client().readWriteLock(Integer.toString(name), options[name][variant]);
                locks[node.index][name][0][variant] = both.writeLock();
                locks[node.index][name][1][variant] = both.readLock();
            }
        }
    }

    // ---------------------------------------------------------------- choosing

    void act(Node node) {
        int choice = world.below(100);
        if (choice < 45) {
            take(node, choice < 25 ? Call.FOREVER : choice < 33 ? 0 : 1 + world.time(80 * MILLI));
        } else if (choice < 50 && setup.hasMultiLocks()) {
            takeAll(node);
        } else if (choice < 60) {
            cancel(node);
        } else if (choice < 75) {
            Call call = anyHolding(node);
            if (call != null) {
                close(call);
            }
        } else if (choice < 85) {
            Call call = anyHolding(node);
            if (call != null) {
                ask(call);
            }
        } else if (!setup.synchronous) {
            take(node, Call.FOREVER);
        } else if (world.chance(50)) {
            waitInThread(node);
        } else if (world.chance(85)) {
            takeHere(node);
        } else if (world.chance(80)) {
            barge(node);
        } else {
            drawMany(node);
        }
    }

    /** The first step after a pause, before anything that is late. */
    void wakes(Node node) {
        if (!node.isOpen() || node.isPaused() || finishing) {
            return;
        }
        for (int i = 0; i < oracle.holding.size(); i++) {
            Call call = oracle.holding.get(i);
            if (call.node == node && call.isHolding() && world.chance(60)) {
                if (call.isSync()) {
                    reenter(call);
                } else {
                    ask(call);
                }
            }
        }
    }

    private @Nullable Call anyHolding(Node node) {
        List<Call> holding = oracle.holding;
        for (int i = holding.size() - 1; i >= 0; i--) {
            Call call = holding.get(i);
            if (call.closed) {
                holding.remove(i);
            } else if (call.node == node && (i == 0 || world.chance(60))) {
                return call;
            }
        }
        return null;
    }

    private void cancel(Node node) {
        List<Call> calls = oracle.calls;
        for (int i = calls.size() - 1; i >= 0; i--) {
            Call call = calls.get(i);
            if (call.node == node && !call.done && world.chance(60)) {
                world.trace("cancel", node.index, call.number, 0);
                cancel(call);
                return;
            }
        }
    }

    private void cancel(Call call) {
        world.next();
        CompletableFuture<?> future = call.future;
        SimThread thread = call.thread;
        if (future != null) {
            call.cancelled = true;
            future.cancel(false);
        } else if (thread != null) {
            call.cancelled |= thread.interrupt();
            if (thread.isDone()) {
                look(call); // what it found is judged by what was known then
            }
        }
    }

    // ---------------------------------------------------------------- taking

    private Call call(Node node, int names, LockMode mode, long wait, int variant) {
        Call call = new Call(
                node,
                names,
                mode,
                wait,
                handOffs[variant],
                setup.isReentrant(Integer.numberOfTrailingZeros(names)),
                maxHolds[variant],
                world.now(),
                oracle.calls.size() + 1);
        oracle.calls.add(call);
        world.trace(
                wait == Call.FOREVER ? "acquire" : wait == 0 ? "try" : "try timed",
                node.index,
                call.number,
                names * 2L + mode.ordinal());
        return call;
    }

    private void take(Node node, long wait) {
        int name = world.below(setup.names);
        int variant = world.below(VARIANTS);
        LockMode mode = anyMode();
        start(call(node, 1 << name, mode, wait, variant), locks[node.index][name][mode.ordinal()][variant]);
    }

    private LockMode anyMode() {
        return setup.readers && world.chance(50) ? LockMode.SHARED : LockMode.EXCLUSIVE;
    }

    private void takeAll(Node node) {
        int variant = world.below(VARIANTS);
        long wait = world.chance(60) ? Call.FOREVER : world.time(60 * MILLI);
        start(
                call(node, 3, LockMode.EXCLUSIVE, wait, variant),
                node.client().multiLock(world.chance(50) ? List.of("0", "1") : List.of("1", "0"), options[0][variant]));
    }

    private void start(Call call, DistributedLock lock) {
        if (call.wait != 0 && !call.isMulti()) {
            call.home.waiting[call.name()]++;
        }
        if (call.wait == Call.FOREVER) {
            CompletableFuture<Lease> future = lock.acquireAsync();
            call.future = future;
            call.answeredInside = future.isDone();
            future.whenComplete((lease, error) -> completed(call, lease, error));
        } else {
            CompletableFuture<Optional<Lease>> future = lock.tryAcquireAsync(Duration.ofNanos(call.wait));
            call.future = future;
            call.answeredInside = future.isDone();
            future.whenComplete((lease, error) -> completed(call, lease == null ? null : lease.orElse(null), error));
        }
    }

    private void completed(Call call, @Nullable Lease lease, @Nullable Throwable error) {
        if (call.future != null && call.wait != 0 && !call.isMulti()) {
            call.home.stopsWaiting(call.name());
        }
        if (lease == null) {
            call.closed = true;
            oracle.ended(call, error);
            return;
        }
        call.lease = lease;
        grantedBy(call, lease.isFallback());
        oracle.begins(call);
        if (world.chance(50)) {
            call.listens = true;
            lease.onLost(reason -> oracle.toldLoss(call, reason));
        }
        if (world.chance(40)) {
            ask(call);
        }
        if (finishing) {
            world.after(world.time(MILLI), call.node, () -> close(call));
        } else if (world.chance(10)) {
            close(call);
        } else if (world.chance(80)) {
            world.after(world.time(setup.maxHold), call.node, () -> close(call));
        }
    }

    private static void grantedBy(Call call, boolean fallback) {
        if (fallback) {
            call.backend = Objects.requireNonNull(call.node.other, "no fallback");
        }
    }

    // ---------------------------------------------------------------- in threads that wait

    private void waitInThread(Node node) {
        int name = world.below(setup.names);
        int variant = world.below(VARIANTS);
        long wait = world.chance(60) ? Call.FOREVER : 1 + world.time(80 * MILLI);
        Call call = call(node, 1 << name, anyMode(), wait, variant);
        call.thread = new SimThread(
                node.client(),
                Integer.toString(name),
                call.mode,
                options[name][variant],
                call.wait == Call.FOREVER ? SimThread.FOREVER : call.wait);
        look(call);
    }

    /** The thread runs for a moment, now and then, whether it was woken or not. */
    private void look(Call call) {
        SimThread thread = call.thread;
        if (call.done || thread == null) {
            return;
        }
        if (thread.look()) {
            completed(
                    call, thread.lease(), thread.gaveUp() ? new CancellationException("interrupted") : thread.error());
        } else {
            world.after(world.time(LATEST_LOOK), call.node, () -> look(call));
        }
    }

    /** A running thread takes the lock again and again while others wait. */
    private void barge(Node node) {
        int name = world.below(setup.names);
        int variant = world.below(VARIANTS);
        for (int i = 0; i < BURST; i++) {
            Call call = tryHere(node, name, LockMode.EXCLUSIVE, variant);
            if (call == null) {
                return;
            }
            close(call);
        }
    }

    // ---------------------------------------------------------------- in this thread

    /**
     * Takes a lock in the calling thread, or enters one again that the thread has: calls that are answered before they
     * return.
     */
    private void takeHere(Node node) {
        for (int i = 0; i < oracle.holding.size(); i++) {
            Call held = oracle.holding.get(i);
            if (held.node == node && held.isHolding() && held.isSync() && world.chance(70)) {
                reenter(held);
                return;
            }
        }
        Call call = tryHere(node, world.below(setup.names), anyMode(), world.below(VARIANTS));
        if (call != null && world.chance(70)) {
            world.after(world.time(setup.maxHold), node, () -> close(call));
        }
    }

    /** A call that does not wait; null if it got nothing, or this thread has the lock. */
    private @Nullable Call tryHere(Node node, int name, LockMode mode, int variant) {
        if (holdsHere(node, name, mode)) {
            return null;
        }
        DistributedLock lock = locks[node.index][name][mode.ordinal()][variant];
        Call call = call(node, 1 << name, mode, 0, variant);
        try {
            if (lock.tryLock()) {
                call.held = lock;
                grantedBy(call, SimClients.isFallback(node.client(), lock.name(), mode));
                call.answeredInside = true;
                call.count = 1;
                oracle.begins(call);
                return call;
            }
            call.closed = true;
            oracle.ended(call, null);
        } catch (LockLostException e) {
            call.done = true;
            call.closed = true; // another hold of this thread is lost, and waits to be released
        } catch (SelfDeadlockException e) {
            call.done = true;
            call.closed = true;
            boolean upgrades = mode == LockMode.EXCLUSIVE && holdsHere(node, name, LockMode.SHARED);
            boolean repeats = !setup.isReentrant(name) && holdsHere(node, name, LockMode.EXCLUSIVE);
            if (!upgrades && !repeats) {
                world.violate("U: call " + call.number + " would not have waited for itself");
            }
        } catch (LockUnavailableException e) {
            call.closed = true;
            oracle.ended(call, e);
        }
        return null;
    }

    private boolean holdsHere(Node node, int name, LockMode mode) {
        for (int i = 0; i < oracle.holding.size(); i++) {
            Call held = oracle.holding.get(i);
            if (held.node == node && held.isHolding() && held.isSync() && held.name() == name && held.mode == mode) {
                return true;
            }
        }
        return false;
    }

    /** A thread draws more tokens than a grant has. */
    private void drawMany(Node node) {
        int name = world.below(setup.names);
        int variant = world.below(VARIANTS);
        for (int i = 0; i < DRAWS && setup.isSticky(name) && setup.isReentrant(name); i++) {
            Call call = tryHere(node, name, LockMode.EXCLUSIVE, variant);
            if (call == null) {
                return;
            }
            drawHere(call);
            close(call);
        }
    }

    /** Draws the token of a hold without a handle, by way of one more. */
    private void drawHere(Call call) {
        DistributedLock lock = call.held;
        if (lock == null) {
            return;
        }
        try (Lease again = lock.tryAcquire().orElseThrow()) {
            draw(call, call.name(), again);
        } catch (LockLostException e) {
            world.trace("no token", call.node.index, call.number, 0);
        }
    }

    private void reenter(Call call) {
        DistributedLock lock = call.held;
        if (lock == null) {
            return;
        }
        world.trace("re-enter", call.node.index, call.number, 0);
        try {
            if (!call.reentrant) {
                if (world.chance(50)) {
                    lock.lock();
                } else {
                    lock.tryLock(); // no more an answer than a hold: it throws
                }
                world.violate("X: call " + call.number
                        + " asked twice for a lock that is not reentrant, and was not refused");
                return;
            }
            if (world.chance(20)) {
                drawHere(call);
            }
            lock.lock();
            call.count++;
            if (!call.backend.isDeceived(call.name()) && !call.server().holds(call.node, call.name(), call.mode)) {
                world.violate("X: call " + call.number + " re-entered a lock that it had lost");
            }
        } catch (LockLostException e) {
            world.trace("re-entry refused", call.node.index, call.number, 0);
        } catch (LockConfigurationException e) {
            if (call.reentrant) {
                throw e;
            }
        }
    }

    // ---------------------------------------------------------------- holding

    private void ask(Call call) {
        Lease lease = call.lease;
        if (lease == null || call.closed) {
            return;
        }
        try {
            for (int name = 0; name < setup.names; name++) {
                if ((call.names & 1 << name) != 0) {
                    draw(call, name, lease);
                }
            }
        } catch (LockLostException e) {
            world.trace("no token", call.node.index, call.number, 0);
        }
    }

    private void draw(Call call, int name, Lease lease) {
        long token;
        try {
            token = lease.token(Integer.toString(name));
        } catch (IllegalMonitorStateException e) {
            throw e;
        } catch (IllegalStateException e) {
            if (!call.isFallback()) {
                throw e;
            }
            return;
        }
        oracle.drew(call, name, token);
    }

    private void close(Call call) {
        if (call.closed) {
            return;
        }
        call.closed = true;
        Lease lease = call.lease;
        DistributedLock lock = call.held;
        if (lease != null) {
            world.trace("close lease", call.node.index, call.number, 0);
            SimThread thread = call.thread;
            CompletableFuture<Void> given = thread != null ? thread.giveBack() : lease.closeAsync();
            given.whenComplete((done, error) -> oracle.gaveBack(call, error));
        } else if (lock != null) {
            world.trace("unlock", call.node.index, call.number, call.count);
            call.backend.flush();
            call.downgraded = call.mode == LockMode.EXCLUSIVE && holdsHere(call.node, call.name(), LockMode.SHARED);
            for (; call.count > 0; call.count--) {
                unlock(call, lock);
            }
        }
    }

    private void unlock(Call call, DistributedLock lock) {
        try {
            lock.unlock();
            oracle.gaveBack(call, null);
        } catch (LockLostException | ReleaseNotConfirmedException e) {
            oracle.gaveBack(call, e);
        }
    }

    // ---------------------------------------------------------------- ending

    /** A node's client was closed: its holds are over. */
    void closed(Node node) {
        for (int i = 0; i < oracle.calls.size(); i++) {
            Call call = oracle.calls.get(i);
            if (call.node == node && call.home == node.backend()) {
                look(call);
            }
        }
        for (int i = 0; i < oracle.holding.size(); i++) {
            Call call = oracle.holding.get(i);
            if (call.node == node && call.isHolding() && call.home == node.backend()) {
                if (call.isValid()) {
                    world.violate("a hold outlived its client");
                }
                if (call.listens && setup.directExecutor && call.toldLosses != 1) {
                    world.violate("a hold was notified " + call.toldLosses + " times that its client was closed");
                }
                close(call);
            }
        }
        for (int i = 0; i < oracle.calls.size(); i++) {
            Call call = oracle.calls.get(i);
            if (call.home == node.backend() && !call.done && setup.directExecutor) {
                world.violate("call " + call.number + " outlived its client");
            }
        }
    }

    /** From here on every hold is short; calls that wait are served, or cancelled if so chosen. */
    void finish(boolean cancelling) {
        finishing = true;
        for (int i = 0; i < oracle.calls.size(); i++) {
            Call call = oracle.calls.get(i);
            if (call.isHolding()) {
                world.after(world.time(MILLI), call.node, () -> close(call));
            } else if (cancelling && !call.done) {
                cancel(call);
            }
        }
    }

    void checkServed() {
        for (int i = 0; i < oracle.calls.size() && world.violation() == null; i++) {
            Call call = oracle.calls.get(i);
            if (!call.done) {
                world.violate("L: call " + call.number + " still waits though nothing stands in its way");
            } else if (!call.closed) {
                world.violate("call " + call.number + " was not released by the test");
            }
        }
    }
}
