package dev.lockstep.internal.sim;

import dev.lockstep.LossReason;
import dev.lockstep.internal.sim.LockServer.Session;
import dev.lockstep.spi.AbstractGrant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A grant, with what the core did to it. */
final class SimGrant extends AbstractGrant {
    private final SimBackend backend;
    private final World world;
    final SimClaim claim;
    final Session session;
    final CompletableFuture<Boolean> released = new CompletableFuture<>();
    int releases;
    int downgrades;
    long downgradedAt;

    /** It was over before it was released. */
    boolean lostBefore;

    private @Nullable Downgrade downgrade;

    /** The server ended it before its time, which the client cannot know yet. */
    boolean endedAtServer;

    /** Holds that began on it, and those after it was wanted; kept by the oracle. */
    int uses;

    int handOffs;
    long firstHandOff;
    private long wantedAt;

    SimGrant(SimClaim claim, Session session, long token, long validUntil) {
        super(claim.listener, token, validUntil);
        this.backend = claim.backend;
        this.world = backend.world;
        this.claim = claim;
        this.session = session;
    }

    /** Whether the core knew before this moment that others want it. */
    boolean wasWanted() {
        return isWanted() && wantedAt < world.now();
    }

    int name() {
        return claim.entry.lock.index;
    }

    void tellWanted() {
        world.trace("reported wanted", backend.node.index, name(), token());
        wantedAt = isWanted() ? wantedAt : world.now();
        signalWanted();
    }

    @Override
    public void signalLost(LossReason reason) {
        backend.losing();
        super.signalLost(reason);
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        if (++releases > 1) {
            world.violate("Z: a grant was released twice");
        }
        if (claim.withdrawals > 0) {
            world.violate("Z: a claim was withdrawn, then its grant released");
        }
        backend.grants.remove(this);
        claim.leaves();
        world.trace("release", backend.node.index, name(), token());
        if (endedAtServer) {
            backend.losing(); // a younger grant may have shown that, before the server did
        }
        lostBefore = isLost() || endedAtServer || backend.node.nanoTime() - validUntilNanos() >= 0;
        if (!lostBefore && isWanted() && claim.exclusive && downgrades == 0) {
            backend.mustYield(name());
        }
        backend.wire.send(new Release(), blockAtMost);
        return released;
    }

    /** Whether the core released it in this step, since its loss was reported, though its time was not up. */
    boolean wasLostInThisStep() {
        return isLost() && claim.leftStep == world.steps() && backend.node.nanoTime() - validUntilNanos() < 0;
    }

    private final class Release extends Rpc {
        Release() {
            super(world);
        }

        @Override
        Runnable apply(Session within, boolean alive) {
            boolean given = backend.server.release(claim.entry, token());
            return () -> {
                done = true;
                released.complete(given);
            };
        }

        @Override
        void silent() {
            released.completeExceptionally(new IllegalStateException("not confirmed"));
        }

        @Override
        void refused() {
            if (isOlderThan(world, Setup.TTL)) {
                silent();
            }
        }
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        if (isDowngrading() || releases > 0) {
            world.violate("a grant was downgraded twice, or after its release");
        }
        downgrades++;
        downgradedAt = world.now();
        Downgrade fresh = new Downgrade();
        downgrade = fresh;
        backend.wire.send(fresh);
        return fresh.answer;
    }

    /** A release waits for it. */
    boolean isDowngrading() {
        return downgrade != null && !downgrade.answer.isDone();
    }

    private final class Downgrade extends Rpc {
        final CompletableFuture<Boolean> answer = new CompletableFuture<>();

        Downgrade() {
            super(world);
        }

        @Override
        Runnable apply(Session within, boolean alive) {
            boolean shared = backend.server.downgrade(claim.entry, token());
            return () -> {
                done = true;
                answer.complete(shared);
            };
        }

        @Override
        void silent() {
            answer.completeExceptionally(new IllegalStateException("not confirmed"));
        }

        @Override
        void refused() {
            if (isOlderThan(world, Setup.REQUEST_TIMEOUT)) {
                silent();
            }
        }
    }
}
