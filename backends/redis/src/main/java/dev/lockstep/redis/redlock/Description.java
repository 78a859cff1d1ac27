package dev.lockstep.redis.redlock;

import dev.lockstep.EngineInfo;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Describes the guarantees of locks on several independent servers. */
final class Description {
    private Description() {}

    static EngineInfo of(Set<String> versions, int servers, int majority, Duration ttl) {
        return EngineInfo.of("Redlock on " + servers + " servers", String.join(", ", versions))
                .withGuarantees(List.of(
                        "One holder at a time, as long as of " + servers + " servers " + majority
                                + " keep their data and their clocks run at the same speed.",
                        "A crashed holder's lock is free after " + ttl.toMillis()
                                + " ms, by the servers' clocks. A holder learns of a loss before that.",
                        "A server that was restarted has no vote until all that it may have forgotten has ended."))
                .withLimits(List.of(
                        "While fewer than " + majority + " servers have a vote, nothing is granted.",
                        "A server's clock that is set forward can end a hold there early.",
                        "No order: there are no fair and no shared locks, and no semaphores."));
    }
}
