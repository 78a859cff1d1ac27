package dev.lockstep.memory;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AbstractBackend;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One client's side of the engine inside the JVM. Safe for use by many threads. */
final class MemoryBackend extends AbstractBackend {
    private static final Traits TRAITS = Traits.of(Duration.ofMillis(10))
            .withPush(true)
            .withReportsWanted(true)
            .withShared(true)
            .withFair(true)
            .withLimits(true);

    private final MemoryEngine engine;
    private final Scheduler scheduler;
    private final LockTable table;
    private final Link link;
    private final Renewer<Session> renewer;
    private final Set<PendingClaim> pending = new LinkedHashSet<>(); // guarded by itself; in order of submission
    private final Calls calls;
    private volatile Session session; // written under this
    private volatile boolean closed; // written under this

    MemoryBackend(MemoryEngine engine, LockTable table, BackendContext context) {
        super(context);
        this.engine = engine;
        this.table = table;
        this.scheduler = context.scheduler();
        this.link = new Link(scheduler);
        this.calls = new Calls(link, scheduler);
        this.renewer = new Renewer<>(context, 1, LossReason.SESSION_ENDED, this::renew);
        this.session = newSession();
    }

    /** Connects: from here on the engine counts the client as alive. */
    void open() {
        engine.sessions().open(session, scheduler.nanoTime());
        renewer.register(session);
    }

    String clientName() {
        return context().clientName();
    }

    String clientId() {
        return context().clientId();
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
            claim.fail(context().closedFailure(request.name()));
        }
        return claim;
    }

    @Override
    public Watch watch(String name, Runnable changed) {
        return table.watchers().add(name, link, changed);
    }

    /** A claim was answered or withdrawn. */
    void forget(PendingClaim claim) {
        synchronized (pending) {
            pending.remove(claim);
        }
    }

    CompletionStage<Void> withdraw(ClaimRequest request, @Nullable MemoryGrant attempt) {
        // Without a reply it is done too: after the ttl the session has expired at the engine, and the claim with it.
        return calls.call(request.name(), "withdraw", context().ttl(), () -> attempt != null && leave(attempt))
                .handle((held, failure) -> null);
    }

    CompletionStage<Boolean> release(MemoryGrant grant) {
        return closed
                ? CompletableFuture.completedFuture(false)
                : calls.call(grant.name(), "release", context().ttl(), () -> leave(grant));
    }

    /** Leaves a lock to a session of its own, which nobody renews. */
    CompletionStage<Boolean> releaseAfter(MemoryGrant grant, Duration rest) {
        return calls.call(grant.name(), "release", context().ttl(), () -> {
            if (!table.isHeldBy(grant)) {
                return false;
            }
            Session own = new Session(this, rest.toNanos(), scheduler.nanoTime());
            engine.sessions().open(own, scheduler.nanoTime());
            grant.moveTo(own);
            return true;
        });
    }

    CompletionStage<Boolean> downgrade(MemoryGrant grant) {
        return ask(grant.name(), "downgrade", () -> {
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
        return ask(null, "ping", () -> null);
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return ask(null, "namespaces", engine::namespaces);
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new MemoryAdmin(this, engine.table(namespace));
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return ask(
                null,
                "describe",
                () -> EngineInfo.of("memory", "")
                        .withGuarantees(List.of(
                                "One holder at a time in this JVM, first come, first served.",
                                "A holder learns of a loss before the next one is served."))
                        .withLimits(List.of(
                                "Other processes are not excluded.",
                                "Locks and tokens end with the JVM: keep no token longer than that.")));
    }

    private CompletableFuture<List<Session>> renew(List<Session> batch) {
        Session renewed = batch.get(0);
        return ask(null, "renew", () -> renewed.renew(scheduler.nanoTime()) ? List.of() : batch);
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

    /** The outage is over: the first message is a renewal, so that delayed messages find a valid session. */
    void reconnect() {
        link.reconnect(() -> {
            Session asked = session;
            long sent = scheduler.nanoTime();
            contacted(asked, asked.renew(sent), sent);
        });
    }

    private void contacted(Session asked, boolean alive, long sent) {
        if (alive) {
            asked.renewedUntil(Renewer.deadline(sent, context().ttl()));
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
        return new Session(
                this,
                context().ttl().toNanos(),
                Renewer.deadline(scheduler.nanoTime(), context().ttl()));
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
        List<MemoryGrant> held = table.heldBy(session);
        link.toEngine(() -> engine.sessions().end(session, LossReason.CLIENT_CLOSED));
        // In an outage the engine keeps the session until it expires, but the client's part ends now.
        held.forEach(grant -> grant.signalLost(LossReason.CLIENT_CLOSED));
        link.cut();
        List<PendingClaim> waiting;
        synchronized (pending) {
            waiting = List.copyOf(pending);
            pending.clear();
        }
        waiting.forEach(claim -> claim.fail(context().closedFailure(null)));
        calls.close();
        engine.closed(this);
    }

    <T extends @Nullable Object> CompletableFuture<T> ask(@Nullable String lockName, String what, Supplier<T> work) {
        return calls.call(lockName, what, context().requestTimeout(), work);
    }
}
