package dev.lockstep.redis.internal;

import dev.lockstep.LockInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Operators' requests for locks of one kind on one Redis. Each call is one round trip in the calling thread, until a
 * deadline at most. Safe for use by many threads.
 */
public abstract class Operators {
    final Link link;
    private final Batches.Question<Keys> inspections;

    Operators(Link link, Script inspect, Function<Keys, byte[][]> keys) {
        this.link = link;
        this.inspections =
                new Batches.Question<>(inspect, lock -> lock, keys, List.of(), Keys::lock, connection -> true);
    }

    /** The type of the keys that show a lock. */
    abstract String keyType();

    /** Understands the part of an answer that is about one lock. */
    abstract LockInfo info(String name, List<?> reply);

    /** Ends every grant of a lock; false if there was none. */
    public abstract boolean forceRelease(Keys keys, long deadlineNanos) throws Failure;

    /** Ends the grant of a lock that has a token; false if there is none. */
    public abstract boolean forceRelease(Keys keys, long token, long deadlineNanos) throws Failure;

    /** Returns the holders and waiters of one lock. */
    public final LockInfo inspect(Keys lock, long deadlineNanos) throws Failure {
        return Objects.requireNonNull(inspect(List.of(lock), deadlineNanos).get(lock), lock.lockName())
                .get();
    }

    /** Returns holders and waiters; a reply for each lock. */
    final Map<Keys, Reply<LockInfo>> inspect(List<Keys> locks, long deadlineNanos) {
        Map<Keys, Reply<LockInfo>> infos = new LinkedHashMap<>();
        Batches.ask(link, link.pooled(), inspections, locks, deadlineNanos)
                .forEach((lock, reply) ->
                        infos.put(lock, reply.map(answer -> info(lock.lockName(), (List<?>) answer))));
        return infos;
    }
}
