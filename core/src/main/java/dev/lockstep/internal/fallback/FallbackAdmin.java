package dev.lockstep.internal.fallback;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.internal.fallback.FallbackRouter.Side;
import dev.lockstep.spi.AdminBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Requests of operators for one namespace of the engine in use. Safe for use by many threads. */
final class FallbackAdmin implements AdminBackend {
    private final FallbackRouter router;
    private final Function<Side, AdminBackend> engines;

    FallbackAdmin(FallbackRouter router, Function<Side, AdminBackend> engines) {
        this.router = router;
        this.engines = engines;
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        Side asked = router.side();
        return engines.apply(asked).inspect(name).thenApply(info -> shown(info, asked));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        Side asked = router.side();
        return engines.apply(asked)
                .list(prefix)
                .thenApply(
                        infos -> infos.stream().map(info -> shown(info, asked)).toList());
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        Side asked = router.side();
        return engines.apply(asked)
                .list(prefix, cursor, limit)
                .thenApply(page -> page.withLocks(
                        page.locks().stream().map(info -> shown(info, asked)).toList()));
    }

    /** The fallback's knowledge, without its tokens: holders have none. */
    private static LockInfo shown(LockInfo info, Side asked) {
        if (asked == Side.PRIMARY) {
            return info;
        }
        List<LockInfo.Entry> holders =
                info.holders().stream().map(FallbackAdmin::withoutToken).toList();
        return info.withHolders(holders);
    }

    private static LockInfo.Entry withoutToken(LockInfo.Entry entry) {
        LockInfo.Entry plain = LockInfo.Entry.of(entry.mode(), entry.holder()).withPermits(entry.permits());
        return entry.remaining().map(plain::withRemaining).orElse(plain);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return engines.apply(router.side()).forceRelease(name);
    }

    /** Asks the primary, even if the fallback is in use: only its grants have tokens. */
    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return engines.apply(Side.PRIMARY).forceRelease(name, token);
    }
}
