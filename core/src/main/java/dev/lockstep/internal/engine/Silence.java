package dev.lockstep.internal.engine;

import dev.lockstep.spi.LockBackend;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * For how long an engine that owes an answer has been silent. Its user checks once in a period; a check that comes much
 * later shows that this process was paused, and not the engine. Guarded by its user, except for {@link #ping}.
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

    /** An answer is owed from a time on: a call began to wait, or the time before does not count any more. */
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

    /** For how long this process was paused before the check that is made now; 0 if it was not. */
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

    /** Checks whether an engine responds. A failure is not reported here: the watch will notice it. */
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
