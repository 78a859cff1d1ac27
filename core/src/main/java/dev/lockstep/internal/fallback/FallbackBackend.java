package dev.lockstep.internal.fallback;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.engine.LateBackend;
import dev.lockstep.internal.events.Events;
import dev.lockstep.internal.fallback.FallbackRouter.Side;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two engines as one: claims go to the primary, and to the fallback while the primary is down. The core notices only
 * that some grants have no token. {@link FallbackRouter} describes how it works.
 *
 * <p>Safe for use by many threads.
 */
public final class FallbackBackend implements LockBackend {
    private static final Logger log = LoggerFactory.getLogger(FallbackBackend.class);

    private final LockBackend primary;
    private final LockBackend fallback;
    private final BackendContext context;
    private final Duration after;
    private final Traits traits;
    private final FallbackRouter router;
    private final PrimaryWatch watch;
    private final FallbackAdmin admin;

    private FallbackBackend(
            LockBackend primary, LockBackend fallback, BackendContext context, Duration after, Events events) {
        this.primary = primary;
        this.fallback = fallback;
        this.context = context;
        this.after = after;
        this.traits = common(primary.traits(), fallback.traits());
        this.router = new FallbackRouter(this, events, context.scheduler().nanoTime());
        this.watch = new PrimaryWatch(router, primary, context, after);
        this.admin = new FallbackAdmin(router, side -> engine(side));
    }

    /**
     * Connects to both engines. If the primary is down, it begins in fallback; if it is connected to lazily, after the time
     * of the plan.
     */
    public static FallbackBackend open(
            BackendFactory factory, FallbackPlan plan, BackendContext context, Events events, boolean lazy) {
        LockBackend fallback = plan.factory().open(context);
        if (lazy) {
            LockBackend primary = LateBackend.lazyBesideFallback(factory, context, fallback.traits());
            return new FallbackBackend(primary, fallback, context, plan.after(), events);
        }
        long sentNanos = context.scheduler().nanoTime();
        try {
            return new FallbackBackend(factory.open(context), fallback, context, plan.after(), events);
        } catch (LockUnavailableException e) {
            log.warn("The engine is down: beginning in fallback ({})", e.getMessage());
            LockBackend primary = LateBackend.besideFallback(factory, context, fallback.traits());
            FallbackBackend both = new FallbackBackend(primary, fallback, context, plan.after(), events);
            both.router.enter(context.scheduler().nanoTime() - sentNanos);
            both.watch.beginAway();
            return both;
        } catch (RuntimeException | Error e) {
            fallback.close();
            throw e;
        }
    }

    private static Traits common(Traits one, Traits other) {
        return Traits.of(one.minTtl().compareTo(other.minTtl()) > 0 ? one.minTtl() : other.minTtl())
                .withPush(one.push() && other.push())
                .withReportsWanted(one.reportsWanted() && other.reportsWanted())
                .withShared(one.shared() && other.shared())
                .withFair(one.fair() && other.fair());
    }

    LockBackend engine(Side side) {
        return side == Side.PRIMARY ? primary : fallback;
    }

    long nanoTime() {
        return context.scheduler().nanoTime();
    }

    /** How long a call may block: no longer than it takes until the fallback begins. */
    Duration bounded(Duration blockAtMost) {
        return blockAtMost.compareTo(after) > 0 ? after : blockAtMost;
    }

    /** The primary is about to be asked for something. */
    void needed(long sentNanos) {
        watch.needed(sentNanos);
    }

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public String address() {
        return primary.address();
    }

    @Override
    public Claim submit(ClaimRequest request) {
        FallbackClaim claim = new FallbackClaim(router, request);
        FallbackAttempt attempt = router.add(claim);
        if (attempt != null) {
            attempt.submit();
        }
        return claim;
    }

    /** Whether new claims go to the fallback. */
    public boolean isFallback() {
        return router.side() == FallbackRouter.Side.FALLBACK;
    }

    @Override
    public long lastContactNanos() {
        return router.lastContactNanos();
    }

    /** When the primary last answered. */
    public long primaryContactNanos() {
        return primary.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return engine(router.side()).ping();
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return admin.inspect(name);
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return admin.list(prefix);
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return admin.list(prefix, cursor, limit);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return admin.forceRelease(name);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return admin.forceRelease(name, token);
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return engine(router.side()).namespaces();
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new FallbackAdmin(router, side -> engine(side).admin(namespace));
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        Side asked = router.side();
        return engine(asked).describe().thenApply(info -> {
            List<String> limits = new ArrayList<>(info.limits());
            limits.add(
                    asked == Side.PRIMARY
                            ? "While this engine is down, locks are taken on a fallback, without tokens; clients that"
                                    + " still reach it are not excluded then."
                            : "This is the fallback: the engine itself is down. Leases have no token, and clients that"
                                    + " still reach the engine are not excluded.");
            return info.withLimits(limits);
        });
    }

    @Override
    public void close() {
        if (!router.close()) {
            return;
        }
        watch.close();
        try {
            primary.close();
        } finally {
            fallback.close();
        }
    }
}
