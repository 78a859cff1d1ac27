package dev.lockstep.zookeeper;

import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Renewable;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a session alive, and knows until when it certainly is. Safe for use by many threads. */
final class Heartbeat implements Renewable {
    /*
     * Overview: until when is a session certainly alive?
     *
     * The leader alone ends sessions: when it has heard nothing of one for its timeout T. A client's connection goes to
     * any server; a follower answers reads itself and tells the leader whom it has heard of only when the leader pings
     * it, every half tick. So an answer does not prove that the leader knows: the follower may be cut off from the
     * leader, or die before it has told. Two things do prove it:
     *
     * - Connecting. The leader itself creates the session or confirms it. So T counts from before the connection was
     *   tried (Hosts).
     * - An answer to `sync`, which makes the follower ask the leader, proves that the two were connected when it was
     *   sent, and that every earlier half tick's report has arrived. So it confirms those heartbeats that had been
     *   answered half a tick before. With a T of three ticks or more that is a sixth of T, and a quarter is on the safe side.
     *
     * So a heartbeat is a `sync` every sixth of T, and T counts from the last one that another has confirmed. A leader
     * that is cut off from its followers answers for a while too; its successor then gives every session a whole T.
     */
    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);
    private static final int BEATS_IN_TIMEOUT = 6;
    private static final int BEATS_IN_RENEWERS_TTL = 3;
    private static final int REPORTED_WITHIN = 4;
    private static final int SILENT_FOR = 4;
    private static final long LEAST_SILENCE_NANOS = 1_000_000_000;

    /** A heartbeat that was answered and not yet confirmed. */
    private record Beat(long sentNanos, long answeredNanos) {}

    private final Session session;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final AtomicLong validUntilNanos;
    private final Deque<Beat> beats = new ArrayDeque<>(); // only touched by the event thread
    private volatile Duration timeout = Duration.ZERO;
    private volatile @Nullable Renewer<Heartbeat> renewer;

    Heartbeat(Session session, BackendContext context) {
        this.session = session;
        this.context = context;
        this.scheduler = context.scheduler();
        this.validUntilNanos = new AtomicLong(scheduler.nanoTime());
    }

    /** The timeout that the server granted; zero before the first connection. */
    Duration timeout() {
        return timeout;
    }

    @Override
    public long validUntilNanos() {
        return validUntilNanos.get();
    }

    /**
     * A connection stands; the first one starts the heartbeat.
     *
     * @param granted the session's timeout
     * @param triedNanos when the connection was tried
     */
    void connected(Duration granted, long triedNanos) {
        timeout = granted;
        confirm(triedNanos);
        if (renewer == null) {
            BackendContext ticking = new BackendContext(
                    context.namespace(),
                    context.clientName(),
                    context.clientId(),
                    granted.multipliedBy(BEATS_IN_RENEWERS_TTL).dividedBy(BEATS_IN_TIMEOUT),
                    context.requestTimeout(),
                    context.retryBackoff(),
                    context.executor(),
                    scheduler);
            Renewer<Heartbeat> made = new Renewer<>(ticking, 1, LossReason.SESSION_ENDED, batch -> send());
            renewer = made;
            made.register(this);
        }
    }

    void close() {
        Renewer<Heartbeat> known = renewer;
        if (known != null) {
            known.close();
        }
    }

    private CompletableFuture<List<Heartbeat>> send() {
        CompletableFuture<List<Heartbeat>> answer = new CompletableFuture<>();
        long sent = scheduler.nanoTime();
        Scheduler.Timer limit = scheduler.schedule(
                context.requestTimeout().toNanos(), () -> answer.completeExceptionally(new TimeoutException()));
        long bearable = Math.max(timeout.toNanos() / SILENT_FOR, LEAST_SILENCE_NANOS);
        Scheduler.Timer silence = scheduler.schedule(bearable, this::leaveServer);
        session.requests().sync(code -> {
            limit.cancel();
            silence.cancel();
            if (code == Code.OK) {
                answered(sent);
                answer.complete(List.of());
            } else if (Replies.isEnd(code)) {
                answer.complete(List.of(this));
            } else {
                answer.completeExceptionally(session.failure(null, "renew the session at", "/", code));
            }
        });
        return answer;
    }

    /** ZooKeeper's client would wait for two thirds of the timeout, too long for another server to save the session. */
    private void leaveServer() {
        log.debug("Client '{}': the server is silent, trying another", context.clientName());
        session.leaveServer();
    }

    private void answered(long sent) {
        long reported = sent - timeout.toNanos() / REPORTED_WITHIN;
        for (Beat beat = beats.peek(); beat != null && reported - beat.answeredNanos >= 0; beat = beats.peek()) {
            confirm(beat.sentNanos);
            beats.remove();
        }
        beats.add(new Beat(sent, scheduler.nanoTime()));
    }

    /** The leader heard of the session after this time. */
    private void confirm(long touchedNanos) {
        long deadline = Renewer.deadline(touchedNanos, timeout);
        validUntilNanos.accumulateAndGet(deadline, (known, next) -> next - known > 0 ? next : known);
        session.renewed();
    }

    @Override
    public void renewedUntil(long deadlineNanos) {
        // See the overview: an answer says less about the leader than this assumes.
    }

    @Override
    public void signalLost(LossReason reason) {
        session.end();
    }
}
