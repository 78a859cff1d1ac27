package dev.lockstep.internal.sim;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.internal.sim.LockServer.Entry;
import dev.lockstep.internal.sim.LockServer.Session;
import dev.lockstep.internal.sim.LockServer.State;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A node's side of the engine: keeps the SPI's clauses over a {@link Wire} that delays, reorders and loses. It retries by
 * claim id, renews its session, claims again in a new one, and counts what the core calls.
 */
final class SimBackend implements LockBackend {
    private static final Traits REPORTS = Traits.of(Duration.ofMillis(1))
            .withPush(true)
            .withReportsWanted(true)
            .withShared(true)
            .withFair(true);
    private static final Traits REPORTS_NOT =
            Traits.of(Duration.ofMillis(1)).withPush(true).withShared(true).withFair(true);

    final Node node;
    final World world;
    private final Setup setup;
    final LockServer server;
    final Wire wire;

    /** Every claim that was ever submitted. */
    final List<SimClaim> claims = new ArrayList<>();

    /** Grants that were reported to the core and that it has not released. */
    final List<SimGrant> grants = new ArrayList<>();

    private @Nullable Session session;

    /** The clock before the last request that this session answered; only if {@link #answered}. */
    private long sessionSent;

    private boolean answered;
    private boolean renewing;
    private long contact;
    private long contactBefore;
    private long contactAt = -1;
    private long lossAt = -1;
    boolean opened;
    boolean closing;
    boolean closed;

    /** How many calls wait for a name. */
    final int[] waiting;

    private final long[] troubles;

    /** Names whose last grant went back because others want it, while local calls wait: the next claim must not barge. */
    private int mustYield;

    SimBackend(Node node, World world, Setup setup, LockServer server, Wire.Kind kind) {
        this.node = node;
        this.world = world;
        this.setup = setup;
        this.server = server;
        this.wire = new Wire(world, setup, this, kind);
        this.contact = node.nanoTime();
        this.waiting = new int[setup.names];
        this.troubles = new long[setup.names];
        Arrays.fill(troubles, -1);
    }

    // ---------------------------------------------------------------- the session

    Session session() {
        Session current = session;
        if (current == null) {
            current = new Session(node);
            session = current;
            answered = false;
        }
        return current;
    }

    /** The server answered a request. */
    void answered(Session answering, boolean alive, long sent) {
        contacted(sent);
        if (answering != session) {
            return;
        }
        if (!alive) {
            sessionEnded(answering);
            return;
        }
        if (!answered || sent - sessionSent > 0) {
            sessionSent = sent;
        }
        answered = true;
        for (int i = 0; i < grants.size(); i++) {
            if (grants.get(i).session == answering) {
                grants.get(i).renewedUntil(validUntil());
            }
        }
    }

    /** The server answered, though perhaps not what it was asked. */
    void contacted(long sent) {
        if (contactAt < world.now()) {
            contactAt = world.now();
            contactBefore = contact;
        }
        contact = sent - contact > 0 ? sent : contact;
    }

    boolean isCurrent(Session within) {
        return within == session;
    }

    /** Whether a session is the present one and has been answered, so that a grant can be valid. */
    boolean isAnswered(Session within) {
        return within == session && answered;
    }

    long validUntil() {
        return sessionSent + Setup.TTL - Setup.DRIFT;
    }

    private void sessionEnded(Session ended) {
        session = null;
        answered = false;
        for (SimGrant grant : new ArrayList<>(grants)) {
            if (grant.session == ended) {
                grant.signalLost(LossReason.SESSION_ENDED);
            }
        }
        for (int i = 0; i < claims.size(); i++) {
            if (!claims.get(i).rpc.done) {
                wire.send(claims.get(i).rpc);
            }
        }
    }

    void renew() {
        if (!renewing) {
            renewing = true;
            world.after(Setup.TTL / 3, node, this::renewNow);
        }
    }

    private void renewNow() {
        renewing = false;
        boolean needed = !grants.isEmpty();
        for (int i = claims.size() - 1; i >= 0 && !needed; i--) {
            needed = !claims.get(i).rpc.done;
        }
        if (needed && !closed) {
            renew();
            wire.send(new Renewal());
        }
    }

    /** Ends the session on the server before its time, as an operator can. */
    void killSession() {
        Session current = session;
        if (current == null) {
            return;
        }
        for (SimGrant grant : grants) {
            grant.endedAtServer |= grant.session == current;
        }
        boolean changed = server.forget(current);
        if (setup.tellsLossFirst && !node.isPaused()) {
            sessionEnded(current);
        }
        if (changed) {
            server.advanceAll();
        }
    }

    /** An operator ends a grant: notifies the core first where the engine can. */
    void revoked(SimClaim claim) {
        SimGrant grant = claim.grant;
        if (grant != null && grants.contains(grant)) {
            grant.endedAtServer = true;
            if (setup.tellsLossFirst && !node.isPaused()) {
                grant.signalLost(LossReason.REVOKED);
            }
        }
    }

    /** Whether the client may believe in a grant of a name that the server has ended before its time. */
    boolean isDeceived(int name) {
        for (SimGrant grant : grants) {
            if (grant.endedAtServer && grant.name() == name && !grant.isLost()) {
                return true;
            }
        }
        return false;
    }

    /** The only grant of a name that the core has; null if there is none, or several. */
    @Nullable
    SimGrant onlyGrant(int name) {
        SimGrant only = null;
        for (SimGrant grant : grants) {
            if (grant.name() == name) {
                if (only != null) {
                    return null;
                }
                only = grant;
            }
        }
        return only;
    }

    /** Whether the core had a grant of a name since a time, or heard in this step of its loss: answers may be older. */
    boolean hadGrant(int name, long since) {
        for (int i = claims.size() - 1; i >= 0; i--) {
            SimClaim claim = claims.get(i);
            SimGrant grant = claim.grant;
            if (grant != null
                    && grant.name() == name
                    && (grants.contains(grant) || grant.wasLostInThisStep() || claim.leftAt > since)) {
                return true;
            }
        }
        return false;
    }

    /** A call ended its wait. With none left, nothing says that the next claim comes from the same turnstile. */
    void stopsWaiting(int name) {
        if (--waiting[name] == 0) {
            mustYield &= ~(1 << name);
        }
    }

    /** Whether something is on its way that will bring a name to its waiters, or is in their way. */
    boolean isBusyWith(int name) {
        for (int i = claims.size() - 1; i >= 0; i--) {
            SimClaim claim = claims.get(i);
            SimGrant grant = claim.grant;
            if (claim.entry.lock.index == name
                    && (claim.isOutstanding() || grant != null && !grant.released.isDone() && claim.withdrawals == 0)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the core had a name, or asked for it, since a time. */
    boolean wasUsed(int name, long since) {
        for (int i = claims.size() - 1; i >= 0; i--) {
            SimClaim claim = claims.get(i);
            if (claim.entry.lock.index == name && (claim.leftAt < 0 || claim.leftAt >= since)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the core has a name, or asks for it, or did until this step. */
    boolean isUsed(int name) {
        for (int i = claims.size() - 1; i >= 0; i--) {
            SimClaim claim = claims.get(i);
            if (claim.entry.lock.index == name && claim.mayWait && claim.isUsed()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the core asked for a name since a time without an answer, and has no claim for it that was answered. */
    boolean isUnanswered(int name, long since) {
        boolean asked = false;
        for (int i = claims.size() - 1; i >= 0; i--) {
            SimClaim claim = claims.get(i);
            if (claim.entry.lock.index == name && (claim.leftAt < 0 || claim.leftAt >= since)) {
                asked |= claim.grant == null && !claim.mustWait();
                if (claim.isRefused()) {
                    return false;
                }
            }
        }
        return asked;
    }

    /** The earliest time since which the engine owes the confirmation that something of a name was released; -1 if none. */
    long owedSince(int name) {
        long since = -1;
        for (int i = claims.size() - 1; i >= 0; i--) {
            SimClaim claim = claims.get(i);
            if (claim.entry.lock.index == name && claim.isOwed()) {
                since = since < 0 ? claim.owedSince() : Math.min(since, claim.owedSince());
            }
        }
        return since;
    }

    /** Whether the core had waited at a time for such a word for longer than a caller does. */
    boolean hasUnconfirmed(int name, long at) {
        for (int i = claims.size() - 1; i >= 0; i--) {
            SimClaim claim = claims.get(i);
            if (claim.entry.lock.index == name && claim.isAwaited() && at - claim.leftAt >= Setup.REQUEST_TIMEOUT) {
                return true;
            }
        }
        return false;
    }

    /** The last contact as it was known before the present moment. */
    long contactBefore() {
        return contactAt == world.now() ? contactBefore : contact;
    }

    void losing() {
        lossAt = world.now();
    }

    /** A wanted grant goes back: while local calls wait, the next claim must not barge. */
    void mustYield(int name) {
        // A client with a fallback may come to this engine again by way of the other one.
        if (waiting[name] > 0 && !setup.isFair(name) && setup.directExecutor && setup.fallback == Setup.Fallback.NONE) {
            mustYield |= 1 << name;
        }
    }

    /** Whether a grant was reported as lost right now. */
    boolean isLosing() {
        return lossAt == world.now();
    }

    /** Something went wrong with a name, so that a call may say that the outcome is unknown. */
    void trouble(int name) {
        troubles[name] = world.now();
    }

    /** Whether something went wrong with a name since a time. */
    boolean hadTrouble(int name, long since) {
        return troubles[name] >= since;
    }

    // ---------------------------------------------------------------- requests

    boolean touch(Session within) {
        return server.touch(within);
    }

    private final class Renewal extends Rpc {
        Renewal() {
            super(world);
        }

        @Override
        Runnable apply(Session within, boolean alive) {
            List<SimGrant> lost = new ArrayList<>(1);
            List<SimGrant> wanted = new ArrayList<>(1);
            for (SimGrant grant : grants) {
                Entry entry = grant.claim.entry;
                if (entry.state != State.HOLDING || entry.token != grant.token()) {
                    lost.add(grant);
                } else if (server.isWanted(entry)) {
                    wanted.add(grant);
                }
            }
            return () -> {
                done = true;
                lost.forEach(grant -> grant.signalLost(LossReason.REVOKED));
                wanted.forEach(SimGrant::tellWanted);
            };
        }

        @Override
        void silent() {
            done = true;
        }

        @Override
        void refused() {
            done = true;
        }
    }

    private final class Ping extends Rpc {
        final CompletableFuture<Void> answer = new CompletableFuture<>();

        Ping() {
            super(world);
        }

        @Override
        Runnable apply(Session within, boolean alive) {
            return () -> {
                done = true;
                answer.complete(null);
            };
        }

        @Override
        void silent() {
            done = true;
            answer.completeExceptionally(new IllegalStateException("no answer"));
        }

        @Override
        void refused() {
            done = true;
            answer.complete(null);
        }
    }

    // ---------------------------------------------------------------- the SPI

    @Override
    public Traits traits() {
        return setup.reportsWanted ? REPORTS : REPORTS_NOT;
    }

    /** Locks of a batch go over the wire one by one, so that any of them may be granted, refused, late or lost. */
    @Override
    public int batchSize() {
        return setup.batchSize;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        int name = Integer.parseInt(request.name());
        if (closed) {
            world.violate("a claim was submitted to a closed backend");
        }
        if (wire.isCut() && world.chance(10)) {
            world.trace("submit refused", node.index, name, 0);
            trouble(name);
            mustYield &= ~(1 << name);
            throw new IllegalStateException("unreachable");
        }
        SimClaim claim = new SimClaim(this, request, name);
        if (claim.mayWait && !setup.isFair(name)) {
            checkWaiting(claim, name);
        }
        claims.add(claim);
        world.trace(
                "submit",
                node.index,
                name,
                (claim.mayWait ? 1 : 0) + (claim.mayBarge ? 2 : 0) + (request.mode() == LockMode.SHARED ? 4 : 0));
        renew();
        wire.send(claim.rpc, request.blockAtMost());
        return claim;
    }

    private void checkWaiting(SimClaim claim, int name) {
        for (SimClaim other : claims) {
            // Claims that a switch left behind may still be leaving when the client is back.
            boolean left = setup.fallback != Setup.Fallback.NONE && other.withdrawals > 0;
            if (other.entry.lock.index == name && other.isOutstanding() && !left) {
                world.violate("two waiting claims of one client for one name");
            }
        }
        if ((mustYield & 1 << name) != 0 && claim.mayBarge) {
            world.violate("a client that released a wanted lock came again without queueing behind the others");
        }
        mustYield &= ~(1 << name);
    }

    @Override
    public long lastContactNanos() {
        return contact;
    }

    @Override
    public CompletionStage<Void> ping() {
        Ping ping = new Ping();
        wire.send(ping);
        return ping.answer;
    }

    /** Everything is answered at once from here on: with success, or if the node is cut off, with an error. */
    void answerAtOnce() {
        closing = true;
        wire.answerAtOnce();
    }

    void heal() {
        wire.heal();
    }

    /** Answers what was asked and not answered yet. */
    void flush() {
        wire.flush();
    }

    @Override
    public void close() {
        closed = true;
        for (SimGrant grant : grants) {
            world.violate("Z: the client closed its backend without releasing grant " + grant.token());
        }
        Session current = session;
        if (current != null && !wire.isCut()) {
            server.end(current);
        }
        wire.close();
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return CompletableFuture.completedFuture(LockInfo.free(name));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return CompletableFuture.completedFuture(List.of());
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return CompletableFuture.completedFuture(false);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return CompletableFuture.completedFuture(false);
    }
}
