package dev.lockstep.internal.sim;

import dev.lockstep.LockMode;
import dev.lockstep.internal.sim.LockServer.Entry;
import dev.lockstep.internal.sim.LockServer.Session;
import dev.lockstep.internal.sim.LockServer.State;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A claim, with what the core did to it. */
final class SimClaim implements Claim {
    final SimBackend backend;
    private final World world;
    private final LockServer server;
    final Entry entry;
    final boolean exclusive;
    final boolean mayWait;
    final boolean mayBarge;
    final GrantListener listener;
    final ClaimRpc rpc;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();

    @Nullable
    SimGrant grant;

    boolean busy;
    boolean failed;
    int withdrawals;
    private boolean polling;
    private boolean mustWait;
    private final long bornStep;

    /** When, and in which step, the core withdrew or released it, or it was refused; -1 before. */
    long leftAt = -1;

    long leftStep = -1;

    SimClaim(SimBackend backend, ClaimRequest request, int name) {
        this.backend = backend;
        this.world = backend.world;
        this.server = backend.server;
        this.rpc = new ClaimRpc();
        this.entry = new Entry(this, server.locks[name], request.mode());
        this.exclusive = request.mode() == LockMode.EXCLUSIVE;
        this.mayWait = request.mayWait();
        this.mayBarge = request.mayBarge();
        this.listener = request.listener();
        this.bornStep = world.steps();
    }

    /** Whether the core has it or had it until this step, and the engine has answered that it must wait. */
    boolean isRefused() {
        return mustWait && isUsed() && bornStep < world.steps();
    }

    Node node() {
        return backend.node;
    }

    /** Whether it may still be in the queue of the engine, as far as the core knows. */
    boolean isOutstanding() {
        return mayWait && (grant == null || withdrawals > 0) && !withdrawn.isDone();
    }

    /** The core withdraws or releases it, or it was refused. */
    void leaves() {
        leftAt = world.now();
        leftStep = world.steps();
    }

    /** Whether the core has it or asks for it, or did until this step. */
    boolean isUsed() {
        boolean leaving = grant != null && grant.isDowngrading(); // a release may wait for that
        return leftAt < 0 ? !leaving : leftStep == world.steps();
    }

    /** Whether the engine may owe the confirmation that it was withdrawn or released. */
    boolean isOwed() {
        SimGrant got = grant;
        return isAwaited() || got != null && (got.isDowngrading() || got.releases > 0 && !got.released.isDone());
    }

    /** Since when that may be. */
    long owedSince() {
        SimGrant got = grant;
        return got != null && got.downgrades > 0 ? got.downgradedAt : leftAt;
    }

    /** Whether the core waits for that word; it does not for what it lost. */
    boolean isAwaited() {
        SimGrant got = grant;
        return withdrawals > 0
                ? !withdrawn.isDone()
                : got != null && got.releases > 0 && !got.lostBefore && !got.released.isDone();
    }

    final class ClaimRpc extends Rpc {
        ClaimRpc() {
            super(world);
        }

        @Override
        Runnable apply(Session within, boolean alive) {
            if (!alive) {
                return () -> {};
            }
            State state = server.claim(entry, within, mayWait, mayBarge);
            long token = entry.token;
            return () -> heard(within, state, token);
        }

        @Override
        void silent() {
            if (world.chance(25)) {
                fail();
            }
        }

        @Override
        void refused() {
            if (isOlderThan(world, Setup.REQUEST_TIMEOUT / 4 * 3) || world.chance(30)) {
                fail();
            }
        }

        @Override
        void blocked() {
            fail();
        }
    }

    private void heard(Session within, State state, long token) {
        if (!backend.isCurrent(within)) {
            return;
        }
        if (state == State.HOLDING) {
            granted(within, token);
        } else if (state == State.DEAD && !mayWait) {
            rpc.done = true;
            busy = true;
            leaves();
            outcome.complete(Outcome.Busy.INSTANCE);
        } else if (state == State.WAITING) {
            mustWait = true;
            pollLater();
        }
    }

    private void pollLater() {
        if (!polling) {
            polling = true;
            world.after(Setup.POLL, backend.node, this::poll);
        }
    }

    private void poll() {
        polling = false;
        if (!rpc.done) {
            backend.wire.send(rpc);
        }
    }

    private void granted(Session within, long token) {
        if (!backend.isAnswered(within) || grant != null || outcome.isDone()) {
            return;
        }
        if (withdrawals > 0 && world.chance(50)) {
            return;
        }
        rpc.done = true;
        SimGrant fresh = new SimGrant(this, within, token, backend.validUntil());
        grant = fresh;
        if (withdrawals == 0) {
            backend.grants.add(fresh);
            backend.renew();
        }
        if (server.isWanted(entry)) {
            fresh.tellWanted();
        }
        fresh.endedAtServer = entry.state != State.HOLDING || entry.token != token;
        backend.node.told[entry.lock.index]++;
        if (backend.node.nanoTime() - fresh.validUntilNanos() >= 0 || fresh.endedAtServer) {
            backend.trouble(entry.lock.index);
        }
        world.trace("reported grant", backend.node.index, entry.lock.index, token);
        outcome.complete(new Outcome.Granted(fresh));
    }

    void fail() {
        if (!outcome.isDone()) {
            rpc.done = true;
            failed = true;
            backend.trouble(entry.lock.index);
            world.trace("claim fails", backend.node.index, entry.lock.index, 0);
            outcome.completeExceptionally(new IllegalStateException("outcome unknown"));
        }
    }

    /** The server has granted it while it waited. */
    void pushed() {
        Session within = entry.session;
        long token = entry.token;
        if (within != null) {
            backend.wire.push(() -> granted(within, token));
        }
    }

    /** The server says that it may be its turn. */
    void hinted() {
        backend.wire.push(() -> {
            if (!rpc.done) {
                backend.wire.send(rpc);
            }
        });
    }

    void wantedAtServer() {
        long token = entry.token;
        backend.wire.push(() -> {
            SimGrant told = grant;
            if (told != null && told.token() == token) {
                told.tellWanted();
            }
        });
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return mustWait;
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        if (++withdrawals > 1) {
            world.violate("Z: a claim was withdrawn twice");
        }
        SimGrant told = grant;
        if (told != null) {
            backend.grants.remove(told);
            if (told.releases > 0) {
                world.violate("Z: a grant was released, then its claim withdrawn");
            }
        }
        leaves();
        world.trace("withdraw", backend.node.index, entry.lock.index, 0);
        rpc.done = true;
        backend.wire.send(new Withdrawal(), blockAtMost);
        return withdrawn;
    }

    private final class Withdrawal extends Rpc {
        Withdrawal() {
            super(world);
        }

        @Override
        Runnable apply(Session within, boolean alive) {
            server.withdraw(entry);
            return () -> {
                done = true;
                withdrawn.complete(null);
            };
        }

        @Override
        void silent() {
            withdrawn.completeExceptionally(new IllegalStateException("not confirmed"));
        }

        @Override
        void refused() {
            if (isOlderThan(world, Setup.TTL)) {
                silent();
            }
        }
    }
}
