package dev.lockstep.redis.redlock;

import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.spi.BackendContext;
import java.util.List;
import java.util.function.Function;

/** Makes engines of routes that a test can break. */
public final class RedlockEngines {
    private RedlockEngines() {}

    public static RedlockEngine on(List<Function<BackendContext, Route>> routes) {
        return RedlockEngine.on(routes, Settings.DEFAULTS);
    }
}
