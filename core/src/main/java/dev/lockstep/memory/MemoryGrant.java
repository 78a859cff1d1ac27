package dev.lockstep.memory;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to have one lock in one session: first waits, if it must, then holds. It is used once; a claim that has to
 * begin again in another session makes a new one.
 *
 * <p>An attempt that succeeds at once is its own claim, so that an uncontended acquire makes few objects. Any other
 * belongs to a {@link PendingClaim}.
 */
final class MemoryGrant extends AbstractGrant implements Claim, Slot {
    private static final CompletableFuture<Boolean> GIVEN_BACK = CompletableFuture.completedFuture(true);
    private static final long NO_TOKEN = 0;
    private static final long TOKEN_FORBIDDEN = -1;
    private static final VarHandle TOKEN;

    static {
        try {
            TOKEN = MethodHandles.lookup().findVarHandle(MemoryGrant.class, "token", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemoryBackend backend;
    private final Session session;
    private volatile @Nullable Session keeper; // once it is left to the engine
    private final ClaimRequest request;
    private final @Nullable PendingClaim claim;
    private @Nullable CompletableFuture<Outcome> outcome;
    private long grantedNanos; // written before the token
    private volatile long token;
    private @Nullable Instant granted; // guarded by this
    private volatile boolean shared;
    private volatile boolean ended;
    private volatile List<Integer> slots = List.of();
    private volatile Optional<LockInfo.Wait> wait = Optional.empty();

    MemoryGrant(MemoryBackend backend, Session session, ClaimRequest request, @Nullable PendingClaim claim) {
        super(request.listener(), NO_TOKEN, 0);
        this.backend = backend;
        this.session = session;
        this.request = request;
        this.claim = claim;
        this.grantedNanos = request.sentNanos(); // an unused lock is granted in the call
        if (request.mode() == LockMode.SHARED) {
            shared = true;
        }
    }

    MemoryBackend backend() {
        return backend;
    }

    Session session() {
        Session other = keeper;
        return other == null ? session : other;
    }

    ClaimRequest request() {
        return request;
    }

    @Override
    public String name() {
        return request.name();
    }

    boolean isShared() {
        return shared;
    }

    void becomeShared() {
        shared = true;
    }

    /** Returns whether the engine took the lock away. */
    boolean isEnded() {
        return ended;
    }

    void markEnded() {
        TOKEN.compareAndSet(this, NO_TOKEN, TOKEN_FORBIDDEN);
        ended = true;
    }

    /** Draws a token outside of any monitor; false if the grant was revoked before. */
    boolean drawToken() {
        return TOKEN.compareAndSet(this, NO_TOKEN, LockTable.nextToken());
    }

    /** It is granted now; the token was drawn under the monitor of the lock's state. */
    void assignToken(long drawn) {
        grantedNanos = backend.scheduler().nanoTime();
        token = drawn;
    }

    /** Sets the slots of a semaphore, under the monitor of its state. */
    void assignSlots(List<Integer> lowest) {
        slots = List.copyOf(lowest);
    }

    /** Its slots; none if it holds no semaphore. */
    List<Integer> slotNumbers() {
        return slots;
    }

    @Override
    public CompletionStage<List<Integer>> slots() {
        return CompletableFuture.completedFuture(slots);
    }

    /** The engine refuses the claim, since the name is used in another way. */
    void tellRefused(OptionalInt limit) {
        if (claim != null) {
            claim.refused(this, limit);
        }
    }

    void tellGranted() {
        if (claim != null) {
            claim.granted(this);
        }
    }

    void tellBusy() {
        if (claim != null) {
            claim.busy(this);
        }
    }

    LockInfo.Entry describeWaiter() {
        return LockInfo.Entry.of(shared ? LockMode.SHARED : LockMode.EXCLUSIVE, request.holder())
                .withPermits(request.permits())
                .withClaim(request.claimId());
    }

    LockInfo.Entry describeHolder() {
        long known = token;
        long left = session.expiryNanos() - backend.scheduler().nanoTime();
        LockInfo.Entry entry = describeWaiter().withRemaining(Duration.ofNanos(left));
        entry = wait.map(entry::withWait).orElse(entry);
        return known > 0 ? entry.withToken(known).withGranted(granted()) : entry;
    }

    /** When it was granted. Computed when it is first asked for, and then the same at each call. */
    private synchronized Instant granted() {
        Instant known = granted;
        if (known == null) {
            Scheduler scheduler = backend.scheduler();
            known = scheduler.wallTime().minusNanos(scheduler.nanoTime() - grantedNanos);
            granted = known;
        }
        return known;
    }

    @Override
    public long token() {
        return token;
    }

    @Override
    public long validUntilNanos() {
        return session.validUntilNanos();
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        if (backend.link().isClear() && backend.table().leaveUnwanted(this)) {
            return GIVEN_BACK;
        }
        return backend.release(this);
    }

    @Override
    public CompletionStage<Boolean> releaseAfter(Duration rest, Duration blockAtMost) {
        return backend.releaseAfter(this, rest);
    }

    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> other) {
        return backend.ask(name(), "recordWait", () -> {
            wait = other;
            return backend.table().isHeldBy(this);
        });
    }

    /** Lets it live in another session. */
    void moveTo(Session other) {
        keeper = other;
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        return backend.downgrade(this);
    }

    /** Makes the answer of an attempt that succeeded at once. */
    Claim asClaim() {
        outcome = CompletableFuture.completedFuture(new Outcome.Granted(this));
        return this;
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        CompletableFuture<Outcome> known = outcome;
        if (known == null) {
            throw new IllegalStateException("not a claim of its own");
        }
        return known;
    }

    @Override
    public boolean mustWait() {
        return false;
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        return backend.withdraw(request, this);
    }
}
