package dev.lockstep.memory;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One client's side of the engine inside the JVM. Safe for use by many threads. */
final class MemoryBackend implements LockBackend {
    private static final Traits TRAITS = new Traits(true, true, true, true, Duration.ofMillis(10));

    private final MemoryEngine engine;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final LockTable table;
    private final Link link;
    private final Renewer<Session> renewer;
    private final Set<PendingClaim> pending = new LinkedHashSet<>(); // guarded by itself; in order of submission
    private final Set<CompletableFuture<?>> unanswered = ConcurrentHashMap.newKeySet();
    private volatile Session session; // written under this
    private volatile boolean closed; // written under this

    MemoryBackend(MemoryEngine engine, LockTable table, BackendContext context) {
        this.engine = engine;
        this.table = table;
        this.context = context;
        this.scheduler = context.scheduler();
        this.link = new Link(scheduler);
        this.renewer = new Renewer<>(context, 1, LossReason.SESSION_ENDED, this::renew);
        this.session = newSession();
    }

    /** Connects: from here on the engine counts the client as alive. */
    void open() {
        engine.sessions().open(session, scheduler.nanoTime());
        renewer.register(session);
    }

    String clientName() {
        return context.clientName();
    }

    String clientId() {
        return context.clientId();
    }

    Scheduler scheduler() {
        return scheduler;
    }

    LockTable table() {
        return table;
    }

    Link link() {
        return link;
    }

    Session session() {
        return session;
    }

    @Override
    public Traits traits() {
        return TRAITS;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        Session current = session;
        if (current.validUntilNanos() - request.sentNanos() <= 0) {
            // A grant of this session would be past its deadline at once, as after a pause.
            contact();
        } else if (request.mode() == LockMode.EXCLUSIVE && link.isClear()) {
            MemoryGrant grant = new MemoryGrant(this, current, request, null);
            if (table.takeUnused(grant)) {
                return grant.asClaim();
            }
        }
        PendingClaim claim = new PendingClaim(this, request);
        synchronized (pending) {
            pending.add(claim);
        }
        claim.submit();
        if (closed) {
            forget(claim);
            claim.fail(closedFailure(request.name()));
        }
        return claim;
    }

    /** A claim was answered or withdrawn. */
    void forget(PendingClaim claim) {
        synchronized (pending) {
            pending.remove(claim);
        }
    }

    CompletionStage<Void> withdraw(@Nullable MemoryGrant attempt) {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        CompletableFuture<Boolean> answer = call(() -> attempt != null && leave(attempt));
        answer.whenComplete((held, failure) -> gone.complete(null));
        // By then the session has expired at the engine, and the claim with it.
        limit(gone, context.ttl(), () -> gone.complete(null));
        return gone;
    }

    CompletionStage<Boolean> release(MemoryGrant grant) {
        if (closed) {
            return CompletableFuture.completedFuture(false);
        }
        CompletableFuture<Boolean> answer = call(() -> leave(grant));
        limit(answer, context.ttl(), () -> answer.completeExceptionally(noAnswer(grant.name(), "release")));
        return answer;
    }

    CompletionStage<Boolean> downgrade(MemoryGrant grant) {
        return limited(grant.name(), "downgrade", () -> {
            Notices notices = new Notices();
            boolean shared = table.downgrade(grant, notices);
            notices.deliver();
            return shared;
        });
    }

    private boolean leave(MemoryGrant grant) {
        Notices notices = new Notices();
        boolean held = table.leave(grant, notices);
        notices.deliver();
        return held;
    }

    @Override
    public long lastContactNanos() {
        return link.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return limited(null, "ping", () -> null);
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return limited(name, "inspect", () -> table.inspect(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return limited(null, "list", () -> table.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return limited(name, "forceRelease", () -> table.endAll(name, LossReason.REVOKED));
    }

    private CompletableFuture<List<Session>> renew(List<Session> batch) {
        Session renewed = batch.get(0);
        return limited(null, "renew", () -> renewed.renew(scheduler.nanoTime()) ? List.of() : batch);
    }

    /** Renews the session now. */
    private void contact() {
        Session asked = session;
        long sent = scheduler.nanoTime();
        link.toEngine(() -> {
            boolean alive = asked.renew(scheduler.nanoTime());
            link.toClient(() -> contacted(asked, alive, sent));
        });
    }

    /** The outage is over: the first message is a renewal, so that what was held up finds a session that is valid. */
    void reconnect() {
        link.reconnect(() -> {
            Session asked = session;
            long sent = scheduler.nanoTime();
            contacted(asked, asked.renew(sent), sent);
        });
    }

    private void contacted(Session asked, boolean alive, long sent) {
        if (alive) {
            asked.renewedUntil(Renewer.deadline(sent, context.ttl()));
        } else {
            sessionLost(asked);
        }
    }

    /** The engine ended a session: opens another, and queues in it what still waits. */
    void sessionLost(Session lost) {
        synchronized (this) {
            if (closed || session != lost) {
                return;
            }
            Session fresh = newSession();
            link.toEngine(() -> engine.sessions().open(fresh, scheduler.nanoTime()));
            renewer.unregister(lost);
            renewer.register(fresh);
            session = fresh;
        }
        List<PendingClaim> waiting;
        synchronized (pending) {
            waiting = List.copyOf(pending);
        }
        waiting.forEach(PendingClaim::submit);
    }

    private Session newSession() {
        return new Session(this, context.ttl().toNanos(), Renewer.deadline(scheduler.nanoTime(), context.ttl()));
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        renewer.close();
        link.toEngine(() -> engine.sessions().end(session, LossReason.CLIENT_CLOSED));
        // Without an answer the engine keeps the session until it expires, but the client's part ends now.
        table.heldBy(session).forEach(grant -> grant.signalLost(LossReason.CLIENT_CLOSED));
        link.cut();
        List<PendingClaim> waiting;
        synchronized (pending) {
            waiting = List.copyOf(pending);
            pending.clear();
        }
        waiting.forEach(claim -> claim.fail(closedFailure(null)));
        unanswered.forEach(answer -> answer.completeExceptionally(closedFailure(null)));
        engine.closed(this);
    }

    /** Does work at the engine. The answer may never come. */
    private <T extends @Nullable Object> CompletableFuture<T> call(Supplier<T> work) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        link.toEngine(() -> {
            // A request that was given up has no more tries.
            if (!answer.isDone()) {
                T result = work.get();
                link.toClient(() -> answer.complete(result));
            }
        });
        return answer;
    }

    /** Does work at the engine. Without an answer within the request timeout the outcome is unknown. */
    private <T extends @Nullable Object> CompletableFuture<T> limited(
            @Nullable String name, String what, Supplier<T> work) {
        CompletableFuture<T> answer = call(work);
        limit(answer, context.requestTimeout(), () -> answer.completeExceptionally(noAnswer(name, what)));
        return answer;
    }

    private void limit(CompletableFuture<?> answer, Duration limit, Runnable giveUp) {
        if (answer.isDone()) {
            return;
        }
        unanswered.add(answer);
        Scheduler.Timer timer = scheduler.schedule(limit.toNanos(), giveUp);
        answer.whenComplete((result, failure) -> {
            timer.cancel();
            unanswered.remove(answer);
        });
        if (closed) {
            answer.completeExceptionally(closedFailure(null));
        }
    }

    private static LockUnavailableException noAnswer(@Nullable String name, String what) {
        return new LockUnavailableException(
                name, "The memory engine did not answer a request to " + what + " in time: an outage is simulated.");
    }

    private LockUnavailableException closedFailure(@Nullable String name) {
        return new LockUnavailableException(name, "Client " + clientName() + " was closed.");
    }
}
