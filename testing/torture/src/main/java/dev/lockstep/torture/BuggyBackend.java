package dev.lockstep.torture;

import dev.lockstep.EngineInfo;
import dev.lockstep.HolderInfo;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/*
 * Overview. The core sees a Ticket where it would see the backend's claim, and a BuggyGrant where it would see the grant.
 * Between a ticket and the real claim is a Place, so that tickets can swap places. The effects of all bugs are in
 * BuggyGrant and in the three methods of Place and Ticket that read the bug.
 */
/** A backend with a bug in it. Thread-safe. */
final class BuggyBackend implements LockBackend {
    private final PlantedBug bug;
    private final LockBackend sound;
    private final BackendContext context;
    private final BugState state;
    private final List<Ticket> waiting = new ArrayList<>(); // guarded by itself
    private final Map<String, String> heldBy = new ConcurrentHashMap<>(); // what a thread holds, by what it waits for
    private final Map<String, LockInfo.Entry> phantoms = new ConcurrentHashMap<>(); // who does not wait for a lock

    BuggyBackend(PlantedBug bug, LockBackend sound, BackendContext context, BugState state) {
        this.bug = bug;
        this.sound = sound;
        this.context = context;
        this.state = state;
    }

    PlantedBug bug() {
        return bug;
    }

    LockBackend sound() {
        return sound;
    }

    BackendContext context() {
        return context;
    }

    BugState state() {
        return state;
    }

    @Override
    public Traits traits() {
        return sound.traits();
    }

    @Override
    public Claim submit(ClaimRequest request) {
        Ticket ticket = new Ticket(request);
        if (bug == PlantedBug.OUTAGE_TOLD_AS_WRONG_SET_UP && state.isTurn(100)) {
            ticket.complete(null, new LockConfigurationException(request.name(), "not set up wrongly at all"));
            return ticket;
        }
        if (bug == PlantedBug.UNAVAILABLE_THOUGH_HEALTHY && state.isTurn(100)) {
            ticket.complete(null, new LockUnavailableException(request.name(), "available all the same"));
            return ticket;
        }
        boolean queues = bug == PlantedBug.LAST_COME_FIRST_SERVED && request.mayWait() && !request.mayBarge();
        if (queues) {
            synchronized (waiting) {
                waiting.add(ticket);
            }
        }
        ticket.place.submit();
        return ticket;
    }

    /** The core's side of a claim. */
    private final class Ticket implements Claim {
        private final ClaimRequest request;
        private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        private volatile Place place = new Place(this);

        Ticket(ClaimRequest request) {
            this.request = request;
        }

        @Override
        public CompletionStage<Outcome> outcome() {
            return outcome;
        }

        @Override
        public boolean mustWait() {
            Claim claim = place.claim;
            return claim != null && claim.mustWait();
        }

        @Override
        public CompletionStage<Void> withdraw(Duration blockAtMost) {
            synchronized (waiting) {
                waiting.remove(this);
            }
            Claim claim = place.claim;
            return bug == PlantedBug.MISSED_WITHDRAW || claim == null
                    ? CompletableFuture.completedFuture(null)
                    : claim.withdraw(blockAtMost);
        }

        void complete(@Nullable Outcome answer, @Nullable Throwable failure) {
            synchronized (waiting) {
                waiting.remove(this);
            }
            if (failure != null) {
                outcome.completeExceptionally(failure);
            } else {
                outcome.complete(answer);
            }
        }
    }

    /** A real claim, and whose it is. */
    private final class Place implements GrantListener {
        private volatile Ticket ticket;
        private volatile @Nullable Claim claim;
        private @Nullable BuggyGrant wrapped; // guarded by this

        Place(Ticket ticket) {
            this.ticket = ticket;
        }

        void submit() {
            Claim made = sound.submit(new Request(ticket.request, this));
            claim = made;
            made.outcome().whenComplete(this::answered);
        }

        private void answered(@Nullable Outcome outcome, @Nullable Throwable failure) {
            if (!(outcome instanceof Outcome.Granted granted)) {
                ticket.complete(outcome, failure);
                return;
            }
            if (bug == PlantedBug.LAST_COME_FIRST_SERVED) {
                swapWithTheLast();
            }
            BuggyGrant grant = wrap(granted.grant());
            if (bug == PlantedBug.GRANT_AFTER_LEASE_ENDED && state.isTurn(30)) {
                grant.endNow();
                context.scheduler()
                        .schedule(context.ttl().toNanos() / 4, () -> ticket.complete(new Outcome.Granted(grant), null));
            } else {
                ticket.complete(new Outcome.Granted(grant), null);
            }
        }

        private void swapWithTheLast() {
            synchronized (waiting) {
                Ticket mine = ticket;
                waiting.remove(mine);
                for (int i = waiting.size() - 1; i >= 0; i--) {
                    Ticket last = waiting.get(i);
                    if (last.request.name().equals(mine.request.name()) && last.request.mode() == mine.request.mode()) {
                        Place its = last.place;
                        its.ticket = mine;
                        mine.place = its;
                        ticket = last;
                        last.place = this;
                        waiting.set(i, mine);
                        return;
                    }
                }
            }
        }

        private synchronized BuggyGrant wrap(Grant grant) {
            BuggyGrant known = wrapped;
            if (known == null || known.sound() != grant) {
                known = new BuggyGrant(BuggyBackend.this, ticket.request, grant);
                wrapped = known;
            }
            return known;
        }

        @Override
        public void waiting() {
            ticket.request.listener().waiting();
        }

        @Override
        public void lost(Grant grant, LossReason reason) {
            if (!state.keepsToItself(bug, ticket.request.name(), reason)) {
                ticket.request.listener().lost(wrap(grant), reason);
            }
        }

        @Override
        public void wanted(Grant grant) {
            ticket.request.listener().wanted(wrap(grant));
        }
    }

    /** The real backend's side of a claim. */
    private final class Request implements ClaimRequest {
        private final ClaimRequest asked;
        private final GrantListener listener;

        Request(ClaimRequest asked, GrantListener listener) {
            this.asked = asked;
            this.listener = listener;
        }

        @Override
        public String name() {
            boolean aside = bug == PlantedBug.READERS_BESIDE_WRITER && asked.mode() == LockMode.SHARED;
            return aside ? asked.name() + "~" : asked.name();
        }

        @Override
        public LockMode mode() {
            return asked.mode();
        }

        @Override
        public boolean mayWait() {
            return asked.mayWait();
        }

        @Override
        public boolean mayBarge() {
            return asked.mayBarge();
        }

        @Override
        public Duration blockAtMost() {
            return asked.blockAtMost();
        }

        @Override
        public String claimId() {
            return asked.claimId();
        }

        @Override
        public OptionalInt limit() {
            OptionalInt limit = asked.limit();
            return bug == PlantedBug.PERMIT_BEYOND_LIMIT && limit.isPresent()
                    ? OptionalInt.of(limit.getAsInt() + 1)
                    : limit;
        }

        @Override
        public int permits() {
            return asked.permits();
        }

        @Override
        public HolderInfo holder() {
            return asked.holder();
        }

        @Override
        public GrantListener listener() {
            return listener;
        }

        @Override
        public long sentNanos() {
            return asked.sentNanos();
        }
    }

    @Override
    public long lastContactNanos() {
        return sound.lastContactNanos();
    }

    @Override
    public CompletionStage<Void> ping() {
        return sound.ping();
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return bug == PlantedBug.DEADLOCK_THAT_IS_NONE
                ? sound.inspect(name).thenApply(this::withPhantoms)
                : sound.inspect(name);
    }

    /** A holder of a lock waits, or does so no longer. */
    void waits(String held, Optional<LockInfo.Wait> wait) {
        heldBy.values().remove(held);
        wait.ifPresent(present -> heldBy.put(present.lock(), held));
    }

    /** Shows holders that this client waits for as if they waited for what it holds, and as waiters there. */
    private LockInfo withPhantoms(LockInfo lock) {
        String held = heldBy.get(lock.name());
        List<LockInfo.Entry> holders = new ArrayList<>(lock.holders());
        List<LockInfo.Entry> waiters = new ArrayList<>(lock.waiters());
        LockInfo.Entry phantom = phantoms.get(lock.name());
        if (phantom != null) {
            waiters.add(phantom);
        }
        if (held != null) {
            holders.replaceAll(holder -> {
                if (holder.waitsFor().isPresent()) {
                    return holder;
                }
                phantoms.put(held, holder);
                return holder.withWait(LockInfo.Wait.of(held, LockMode.EXCLUSIVE, "phantom", Instant.EPOCH, false));
            });
        }
        return LockInfo.of(lock.name(), holders, waiters);
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return sound.list(prefix);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return sound.forceRelease(name);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return sound.forceRelease(name, token);
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return sound.namespaces();
    }

    @Override
    public AdminBackend admin(String namespace) {
        return sound.admin(namespace);
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return sound.describe();
    }

    @Override
    public void close() {
        sound.close();
    }
}
