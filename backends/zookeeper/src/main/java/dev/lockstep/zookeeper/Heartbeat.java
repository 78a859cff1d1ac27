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
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a session alive, and knows until when it certainly is. Safe for use by many threads. */
final class Heartbeat implements Renewable {
    /*
     * Overview: until when is a session certainly alive?
     *
     * The leader ends a session when it has not heard of it for the timeout T. A new leader gives every session a whole T.
     * So a session is alive until T after the earlier of these two times:
     *
     *   touched     the leader of this client's server has heard of the session at this time or later
     *   committed   a majority of the servers still followed that leader at this time or later,
     *               so every new leader has started later
     *
     * touched. Connecting counts from before it was tried (Hosts), since the leader itself creates or confirms the session.
     * A request does not: a follower answers it, and reports to the leader only when the leader pings it, every half tick.
     * That a heartbeat A has been reported is proved by two more, B and C, which both make the server ask the leader. B is
     * sent 0.3 T or more after A's answer, and C after B's answer. Servers grant a T of two ticks or more, so 0.3 T is 0.6
     * ticks or more, and the leader has pinged the follower between A's answer and B. The follower gets that ping before
     * B's answer, and its report reaches the leader before C. This holds however late messages are.
     *
     * committed. A leader that is cut off from its followers continues to answer reads, sync and reconnecting clients until
     * its sync limit has passed, which is longer than many T. Its followers may have elected another leader long before.
     * Only an answered write proves that a majority follows it. All writes of a session count. A session that has nodes and
     * has written nothing for T/4 sends a write as its heartbeat, which changes nothing; other heartbeats are a sync.
     *
     * Heartbeats are T/12 apart: C follows A by 5/12 T, so that after each confirmation T/2 or more is left.
     */
    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);
    private static final int BEATS_IN_TIMEOUT = 12;
    private static final int BEATS_IN_RENEWERS_TTL = 3;
    private static final double REPORTED_WITHIN = 0.3;
    private static final int WRITTEN_WITHIN = 4;
    private static final int SILENT_FOR = 4;
    private static final long LEAST_SILENCE_NANOS = 1_000_000_000;

    /** A heartbeat that was answered and not yet confirmed. */
    private record Beat(long sentNanos, long answeredNanos) {}

    private final Session session;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final AtomicLong touchedNanos;
    private final AtomicLong committedNanos;
    private final Deque<Beat> beats = new ArrayDeque<>(); // only used by the event thread, as the next
    private @Nullable Beat reported; // the last one that was reported before an answer came
    private long reportedNanos; // when that answer came
    private volatile Duration timeout = Duration.ZERO;
    private volatile @Nullable Renewer<Heartbeat> renewer;

    Heartbeat(Session session, BackendContext context) {
        this.session = session;
        this.context = context;
        this.scheduler = context.scheduler();
        this.touchedNanos = new AtomicLong(scheduler.nanoTime());
        this.committedNanos = new AtomicLong(touchedNanos.get());
    }

    /** The timeout that the server granted; zero before the first connection. */
    Duration timeout() {
        return timeout;
    }

    @Override
    public long validUntilNanos() {
        long touched = touchedNanos.get();
        long committed = committedNanos.get();
        return Renewer.deadline(touched - committed < 0 ? touched : committed, timeout);
    }

    /**
     * The client is connected. The first connection starts the heartbeat: it was a write, since it created the
     * session. A later one needs a write first.
     *
     * @param granted the session's timeout
     * @param triedNanos when the connection was tried
     */
    void connected(Duration granted, long triedNanos) {
        timeout = granted;
        touched(triedNanos);
        if (renewer == null) {
            BackendContext ticking =
                    context.withTtl(granted.multipliedBy(BEATS_IN_RENEWERS_TTL).dividedBy(BEATS_IN_TIMEOUT));
            Renewer<Heartbeat> made = new Renewer<>(ticking, 1, LossReason.SESSION_ENDED, batch -> send());
            renewer = made;
            committed(triedNanos);
            made.register(this);
        } else {
            send();
        }
    }

    /** A write of this session was answered, which was sent at that time. */
    void committed(long sentNanos) {
        advance(committedNanos, sentNanos);
    }

    private void touched(long nanos) {
        advance(touchedNanos, nanos);
    }

    private void advance(AtomicLong time, long nanos) {
        long last = time.getAndAccumulate(nanos, (known, next) -> next - known > 0 ? next : known);
        if (nanos - last > 0) {
            session.renewed();
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
        Consumer<Code> reply = code -> {
            limit.cancel();
            silence.cancel();
            if (code == Code.OK) {
                answered(sent);
                answer.complete(List.of());
            } else if (Failure.isEnd(code)) {
                answer.complete(List.of(this));
            } else {
                answer.completeExceptionally(session.failure(null, "renew the session at", "/", code));
            }
        };
        if (session.room().isUsed() && sent - committedNanos.get() > timeout.toNanos() / WRITTEN_WITHIN) {
            session.link().writeNothing(reply);
        } else {
            session.link().sync(reply);
        }
        return answer;
    }

    /** ZooKeeper's client would wait for two thirds of the timeout, too long for another server to save the session. */
    private void leaveServer() {
        log.debug("Client '{}': the server is silent, trying another", context.clientName());
        session.leaveServer();
    }

    private void answered(long sent) {
        long now = scheduler.nanoTime();
        if (reported != null && sent - reportedNanos >= 0) {
            touched(reported.sentNanos);
        }
        long before = sent - (long) (timeout.toNanos() * REPORTED_WITHIN);
        for (Beat beat = beats.peek(); beat != null && before - beat.answeredNanos >= 0; beat = beats.peek()) {
            reported = beats.remove();
            reportedNanos = now;
        }
        beats.add(new Beat(sent, now));
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
