package dev.lockstep.internal.engine;

import dev.lockstep.spi.LockBackend;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * For how long an engine has been silent that owes an answer. Whoever watches it looks once in a period; a look that comes
 * much later shows that this process stood still, and not the engine. Guarded by whoever uses it, but for {@link #ping}.
 */
public final class Silence {
    private static final Logger log = LoggerFactory.getLogger(Silence.class);

    private final long periodNanos;

    /** From when on an answer is owed. */
    private long sinceNanos;

    /** When the next look is due. */
    private long dueNanos;

    public Silence(long periodNanos) {
        this.periodNanos = periodNanos;
    }

    public long periodNanos() {
        return periodNanos;
    }

    /** An answer is owed from a time on: somebody began to wait, or what came before does not count any more. */
    public void begin(long fromNanos) {
        sinceNanos = fromNanos;
    }

    /** The engine was heard: what came before is over. */
    public void heard(long contactNanos) {
        if (contactNanos - sinceNanos > 0) {
            sinceNanos = contactNanos;
        }
    }

    /** Some time does not count, because this process did not see it. */
    public void skip(long nanos) {
        sinceNanos += nanos;
    }

    public void nextLookAt(long nanos) {
        dueNanos = nanos;
    }

    /** For how long this process has stood still before the look that is made now; 0 if it has not. */
    public long awayNanos(long now) {
        long late = now - dueNanos;
        return late >= periodNanos ? late : 0;
    }

    /** From when on an answer is owed. */
    public long sinceNanos() {
        return sinceNanos;
    }

    /** Since when nothing was heard, given the last contact. */
    public long sinceNanos(long contactNanos) {
        return contactNanos - sinceNanos > 0 ? contactNanos : sinceNanos;
    }

    /** Asks an engine for a sign of life. That there is none is no news: whoever watches will see. */
    public static void ping(LockBackend engine, Consumer<Boolean> answered) {
        try {
            engine.ping().whenComplete((answer, error) -> {
                if (error != null) {
                    log.debug("The engine did not answer a ping", error);
                }
                answered.accept(error == null);
            });
        } catch (RuntimeException e) {
            log.debug("The engine could not be asked", e);
            answered.accept(false);
        }
    }
}
