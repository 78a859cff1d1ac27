package dev.lockstep.internal.events;

import dev.lockstep.LockListener;
import dev.lockstep.LossReason;
import dev.lockstep.WaitGraph;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;
import org.slf4j.spi.NOPLoggingEventBuilder;

/**
 * The log messages about one client, for operators: losses, outages, fallback, deadlocks, abandoned holds and releases
 * that the engine did not confirm. Each message is a sentence that says what to do, and has its facts as key-value
 * pairs, too. Of one kind, at most {@link #BURST} messages are logged in {@link #PERIOD}; the next one, or one at the
 * end of that time, says how many were left out. Called without a mutex. Safe for use by many threads.
 */
public final class EventLog {
    static final int BURST = 20;
    static final Duration PERIOD = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger("dev.lockstep.events");

    private final String client;
    private final String address;
    private final MessageLimit losses;
    private final MessageLimit unconfirmed;
    private final MessageLimit outages;
    private final MessageLimit fallbacks;
    private final MessageLimit abandoned;
    private final MessageLimit longHolds;
    private final MessageLimit deadlocks;

    public EventLog(String client, String address, Scheduler scheduler) {
        this.client = client;
        this.address = address;
        this.losses = limit(scheduler, "lost", "lost locks");
        this.unconfirmed = limit(scheduler, "unconfirmed", "releases that were not confirmed");
        this.outages = limit(scheduler, "unreachable", "outages");
        this.fallbacks = limit(scheduler, "fallback_entered", "the fallback");
        this.abandoned = limit(scheduler, "abandoned", "abandoned locks");
        this.longHolds = limit(scheduler, "long_hold", "long holds");
        this.deadlocks = limit(scheduler, "deadlock", "deadlocks");
    }

    private MessageLimit limit(Scheduler scheduler, String kind, String subject) {
        return new MessageLimit(
                scheduler,
                BURST,
                PERIOD,
                count -> log.atWarn()
                        .addKeyValue("event", "left_out")
                        .addKeyValue("client", client)
                        .addKeyValue("engine", address)
                        .addKeyValue("kind", kind)
                        .addKeyValue("count", count)
                        .log("Client '{}': {} more messages about {} were left out.", client, count, subject));
    }

    String client() {
        return client;
    }

    /** Reports how many messages were left out, as far as no message has said so. */
    public void close() {
        losses.report();
        unconfirmed.report();
        outages.report();
        fallbacks.report();
        abandoned.report();
        longHolds.report();
        deadlocks.report();
    }

    /**
     * A hold was lost.
     *
     * @param token 0 if nobody has asked for it
     */
    void lost(String lock, LossReason reason, long token, long heldNanos) {
        lost("Lock", lock, reason, token, heldNanos);
    }

    /** A permit was lost. */
    void permitLost(String semaphore, LossReason reason, long token, long heldNanos) {
        lost("A permit of semaphore", semaphore, reason, token, heldNanos);
    }

    private void lost(String what, String lock, LossReason reason, long token, long heldNanos) {
        if (reason == LossReason.CLIENT_CLOSED) { // it was closed on purpose: not worth a message
            log.debug("{} '{}' was released because its client was closed", what, lock);
            return;
        }
        long millis = heldNanos / 1_000_000;
        withToken(line(Level.WARN, "lost", losses, millis), token)
                .addKeyValue("lock", lock)
                .addKeyValue("reason", reason)
                .log(
                        "{} '{}' was lost: {} ({}). Client '{}' had held it for {} ms, {}; engine: {}. Another holder may have"
                                + " it now. {}{}",
                        what,
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
                "Look for pauses of this process and outages of the engine; a longer ttl survives longer ones.";
            case REVOKED -> "Ask who released it by force, and whether the engine has lost data.";
            case MAX_HOLD_REACHED -> "Shorten the work, or raise maxHold.";
            case CLIENT_CLOSED -> "Close the client last.";
        };
    }

    /**
     * The engine has not confirmed that it has released a lock, or withdrawn a claim for it. Logged without the stack trace: in
     * an outage there is one for every lock.
     *
     * @param token 0 if nobody has asked for it
     * @param held how long it was held; null if nobody held it
     */
    public void unconfirmed(String lock, long token, @Nullable Duration held, Throwable failure) {
        LoggingEventBuilder line = held == null
                ? line(Level.WARN, "unconfirmed", unconfirmed)
                : line(Level.WARN, "unconfirmed", unconfirmed, held.toMillis());
        withToken(line, token)
                .addKeyValue("lock", lock)
                .addKeyValue("failure", failure.toString())
                .log(
                        "Lock '{}': client '{}' released it{}, and {} did not confirm that: {}. If the lock is still held there, it"
                                + " is freed after the ttl; if this continues, check the engine.{}",
                        lock,
                        client,
                        held == null ? "" : " after " + held.toMillis() + " ms" + withToken(token),
                        address(),
                        failure.toString(),
                        unconfirmed.leftOut());
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
                .log(
                        "Client '{}': {} answers again, after {} ms. If this repeats, look at the network and at the load of the engine.{}",
                        client,
                        address(),
                        millis,
                        outages.leftOut());
    }

    public void fallbackEntered(long silenceNanos) {
        long millis = silenceNanos / 1_000_000;
        line(Level.WARN, "fallback_entered", fallbacks, millis)
                .log(
                        "Client '{}': no answer from {} for {} ms, so locks are taken in the fallback. They exclude only"
                                + " clients that use the same fallback, and have no token. Bring the engine back.{}",
                        client,
                        address(),
                        millis,
                        fallbacks.leftOut());
    }

    public void fallbackLeft(long durationNanos) {
        long millis = durationNanos / 1_000_000;
        line(Level.INFO, "fallback_left", fallbacks, millis)
                .log(
                        "Client '{}': the fallback has ended after {} ms; all locks use {} again. Locks that were"
                                + " taken meanwhile excluded only clients of the same fallback: check that work.{}",
                        client,
                        millis,
                        address(),
                        fallbacks.leftOut());
    }

    /**
     * A hold can no longer be released.
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
        String end = thread == null ? "its lease was dropped" : "thread '" + thread + "' ended";
        abandoned("Lock", lock, end, token, held, released, place);
    }

    /** A permit can no longer be released: its handle was dropped. It is released. */
    public void permitAbandoned(String semaphore, long token, Duration held, @Nullable Throwable place) {
        abandoned("Semaphore", semaphore, "a permit was dropped", token, held, true, place);
    }

    private void abandoned(
            String what,
            String lock,
            String end,
            long token,
            Duration held,
            boolean released,
            @Nullable Throwable place) {
        LoggingEventBuilder line = withToken(line(Level.WARN, "abandoned", abandoned, held.toMillis()), token);
        if (place != null) {
            line = line.setCause(place);
        }
        line.addKeyValue("lock", lock)
                .log(
                        "{} '{}' of client '{}': {} without releasing it, {} ms after it was acquired{}; engine: {}. {}{}{}",
                        what,
                        lock,
                        client,
                        end,
                        held.toMillis(),
                        withToken(token),
                        address(),
                        released
                                ? "It is released now."
                                : "It stays held until the client is closed: unlock in a finally block, or let the client"
                                        + " release such locks by releaseAbandoned().",
                        place == null ? " To learn where it was acquired, use leakDetection(…)." : "",
                        abandoned.leftOut());
    }

    /**
     * A hold lasts longer than the client's leak detection allows.
     *
     * @param what is held, and by whom, as the beginning of a sentence
     * @param token 0 if nobody has asked for it
     */
    public void lastsLong(
            String what, String lock, long token, Duration held, Duration allowed, @Nullable Throwable place) {
        LoggingEventBuilder line = withToken(line(Level.WARN, "long_hold", longHolds, held.toMillis()), token);
        if (place != null) {
            line = line.setCause(place);
        }
        line.addKeyValue("lock", lock)
                .log(
                        "{}{} for {} ms, longer than the {} ms that leakDetection allows; client: '{}', engine: {}. The stack"
                                + " trace shows where it was acquired.{}",
                        what,
                        withToken(token),
                        held.toMillis(),
                        allowed.toMillis(),
                        client,
                        address(),
                        longHolds.leftOut());
    }

    /** Threads wait for each other. */
    public void deadlock(LockListener.Deadlock event) {
        WaitGraph.Cycle cycle = event.cycle();
        line(Level.WARN, "deadlock", deadlocks)
                .addKeyValue("lock", cycle.victim().waitsFor().lock())
                .addKeyValue("size", cycle.edges().size())
                .log(
                        "Client '{}': deadlock: {}; engine: {}. {} Take locks in the same order everywhere.{}",
                        client,
                        cycle,
                        address(),
                        event.failsCall()
                                ? "The call for '" + cycle.victim().waitsFor().lock()
                                        + "' fails, so that the others can continue."
                                : "It lasts until one of the calls gives up: stop one of the threads, or use deadlocks(FAIL).",
                        deadlocks.leftOut());
    }

    private String address() {
        return address.isEmpty() ? "the engine" : "the engine at " + address;
    }

    private static LoggingEventBuilder withToken(LoggingEventBuilder line, long token) {
        return token == 0 ? line : line.addKeyValue("token", token);
    }

    private static String withToken(long token) {
        return token == 0 ? "" : " with token " + token;
    }

    private LoggingEventBuilder line(Level level, String event, MessageLimit limit, long millis) {
        return line(level, event, limit).addKeyValue("durationMs", millis);
    }

    private LoggingEventBuilder line(Level level, String event, MessageLimit limit) {
        if (!limit.admits()) {
            return NOPLoggingEventBuilder.singleton();
        }
        return log.atLevel(level)
                .addKeyValue("event", event)
                .addKeyValue("client", client)
                .addKeyValue("engine", address);
    }
}
