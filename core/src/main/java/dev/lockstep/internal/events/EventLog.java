package dev.lockstep.internal.events;

import dev.lockstep.LockListener;
import dev.lockstep.LossReason;
import dev.lockstep.WaitGraph;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;
import org.slf4j.spi.NOPLoggingEventBuilder;

/**
 * What operators read in the log about one client: losses, outages, fallback, deadlocks and abandoned holds. Each message is a sentence
 * that says what to do, and has its facts as key-value pairs, too. Of one kind, at most {@link #BURST} messages are logged in
 * {@link #PERIOD}; the next one says how many were left out. Called without a mutex. Safe for use by many threads.
 */
public final class EventLog {
    static final int BURST = 20;
    static final Duration PERIOD = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger("dev.lockstep.events");

    private final String client;
    private final String address;
    private final Limit losses;
    private final Limit outages;
    private final Limit fallbacks;
    private final Limit abandoned;
    private final Limit deadlocks;

    public EventLog(String client, String address, LongSupplier nanoTime) {
        this.client = client;
        this.address = address;
        this.losses = new Limit(nanoTime);
        this.outages = new Limit(nanoTime);
        this.fallbacks = new Limit(nanoTime);
        this.abandoned = new Limit(nanoTime);
        this.deadlocks = new Limit(nanoTime);
    }

    /**
     * A hold was lost.
     *
     * @param token 0 if nobody has asked for it
     */
    public void lost(String lock, LossReason reason, long token, long heldNanos) {
        if (reason == LossReason.CLIENT_CLOSED) { // somebody closed it: that is no news
            log.debug("Lock '{}' was released because its client was closed", lock);
            return;
        }
        long millis = heldNanos / 1_000_000;
        LoggingEventBuilder line = line(Level.WARN, "lost", losses, millis);
        if (token != 0) {
            line = line.addKeyValue("token", token);
        }
        line.addKeyValue("lock", lock)
                .addKeyValue("reason", reason)
                .log(
                        "Lock '{}' was lost: {} ({}). Client '{}' had held it for {} ms, {}; engine: {}. Another holder may have"
                                + " it now. {}{}",
                        lock,
                        reason.explanation(),
                        reason,
                        client,
                        millis,
                        token == 0 ? "and nobody had asked for its token" : "with token " + token,
                        address(),
                        advice(reason),
                        losses.leftOut());
    }

    private static String advice(LossReason reason) {
        return switch (reason) {
            case EXPIRED, SESSION_ENDED ->
                "Look for pauses of this process and outages of the engine; a longer ttl bears longer ones.";
            case REVOKED -> "Ask who released it by force, and whether the engine has lost data.";
            case MAX_HOLD_REACHED -> "Shorten the work, or raise maxHold.";
            case CLIENT_CLOSED -> "Close the client last.";
        };
    }

    public void unreachable(long silenceNanos) {
        long millis = silenceNanos / 1_000_000;
        line(Level.WARN, "unreachable", outages, millis)
                .log(
                        "Client '{}': no answer from {} for {} ms. Check that it is up and reachable. Locks that are held stay valid"
                                + " until their ttl has passed.{}",
                        client,
                        address(),
                        millis,
                        outages.leftOut());
    }

    public void reachable(long outageNanos) {
        long millis = outageNanos / 1_000_000;
        line(Level.INFO, "reachable", outages, millis)
                .log("Client '{}': {} answers again, after {} ms.{}", client, address(), millis, outages.leftOut());
    }

    public void fallbackEntered(long silenceNanos) {
        long millis = silenceNanos / 1_000_000;
        line(Level.WARN, "fallback_entered", fallbacks, millis)
                .log(
                        "Client '{}': no answer from {} for {} ms, so locks are taken in the fallback. They exclude only those who"
                                + " use the same fallback, and have no token. Bring the engine back.{}",
                        client,
                        address(),
                        millis,
                        fallbacks.leftOut());
    }

    public void fallbackLeft(long durationNanos) {
        long millis = durationNanos / 1_000_000;
        line(Level.INFO, "fallback_left", fallbacks, millis)
                .log(
                        "Client '{}': the fallback has ended after {} ms; all locks are at {} again.{}",
                        client,
                        millis,
                        address(),
                        fallbacks.leftOut());
    }

    /**
     * Nobody can release a hold any more.
     *
     * @param thread the name of the thread that ended; null if a lease was dropped
     * @param token 0 if nobody has asked for it
     */
    public void abandoned(
            String lock,
            @Nullable String thread,
            long token,
            Duration held,
            boolean released,
            @Nullable Throwable place) {
        LoggingEventBuilder line = line(Level.WARN, "abandoned", abandoned, held.toMillis());
        if (token != 0) {
            line = line.addKeyValue("token", token);
        }
        if (place != null) {
            line = line.setCause(place);
        }
        line.addKeyValue("lock", lock)
                .log(
                        "Lock '{}' of client '{}': {} without releasing it, {} ms after it was acquired{}; engine: {}. {}{}{}",
                        lock,
                        client,
                        thread == null ? "its lease was dropped" : "thread '" + thread + "' ended",
                        held.toMillis(),
                        token == 0 ? "" : " with token " + token,
                        address(),
                        released
                                ? "It is released now."
                                : "It stays held until the client is closed: unlock in a finally block, or let the client"
                                        + " release such locks by releaseAbandoned().",
                        place == null ? " To learn where it was acquired, use leakDetection(…)." : "",
                        abandoned.leftOut());
    }

    /** Threads wait for each other. */
    public void deadlock(LockListener.Deadlock event) {
        WaitGraph.Cycle cycle = event.cycle();
        line(Level.WARN, "deadlock", deadlocks)
                .addKeyValue("lock", cycle.victim().waitsFor().lock())
                .addKeyValue("size", cycle.edges().size())
                .log(
                        "Client '{}': deadlock: {}. {} Take locks in the same order everywhere.{}",
                        client,
                        cycle,
                        event.failsCall()
                                ? "The call for '" + cycle.victim().waitsFor().lock()
                                        + "' fails, so that the others can go on."
                                : "It lasts until one of the calls gives up: stop one of the threads, or use deadlocks(FAIL).",
                        deadlocks.leftOut());
    }

    private String address() {
        return address.isEmpty() ? "the engine" : "the engine at " + address;
    }

    private LoggingEventBuilder line(Level level, String event, Limit limit, long millis) {
        return line(level, event, limit).addKeyValue("durationMs", millis);
    }

    private LoggingEventBuilder line(Level level, String event, Limit limit) {
        if (!limit.admits()) {
            return NOPLoggingEventBuilder.singleton();
        }
        return log.atLevel(level)
                .addKeyValue("event", event)
                .addKeyValue("client", client)
                .addKeyValue("engine", address);
    }

    /** Lets some messages through, and counts the others. */
    private static final class Limit {
        private final LongSupplier nanoTime;
        private long sinceNanos;
        private int admitted;
        private int refused;
        private int toReport;

        Limit(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
        }

        synchronized boolean admits() {
            long now = nanoTime.getAsLong();
            if (admitted == 0 || now - sinceNanos >= PERIOD.toNanos()) {
                sinceNanos = now;
                admitted = 0;
                toReport += refused;
                refused = 0;
            }
            if (admitted == BURST) {
                refused++;
                return false;
            }
            admitted++;
            return true;
        }

        /** How many messages before were not logged, as an end of a sentence; once. */
        synchronized String leftOut() {
            int count = toReport;
            toReport = 0;
            return count == 0 ? "" : " (" + count + " such messages before were left out.)";
        }
    }
}
