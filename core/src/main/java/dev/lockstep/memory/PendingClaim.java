package dev.lockstep.memory;

import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Limits;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A claim that could not be granted in the call: it waits, or its answer is pending. Queues again whenever its client
 * has a new session, until it is answered or withdrawn.
 */
final class PendingClaim implements Claim {
    private final MemoryBackend backend;
    private final ClaimRequest request;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private @Nullable MemoryGrant attempt; // guarded by this
    private boolean settled; // guarded by this; answered or withdrawn
    private volatile boolean waits;

    PendingClaim(MemoryBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
    }

    /** Asks the engine, for the first time or again: it does nothing if it knows the claim in the current session. */
    void submit() {
        backend.link().toEngine(this::queue);
    }

    private void queue() {
        Notices notices = new Notices();
        synchronized (this) {
            while (!settled) {
                Session session = backend.session();
                if (attempt != null) {
                    if (attempt.session() == session) {
                        break;
                    }
                    backend.table().leave(attempt, notices);
                }
                attempt = new MemoryGrant(backend, session, request, this);
                backend.table().arrive(attempt, notices);
                if (session.isAlive()) {
                    break;
                }
                // The session's end may have overlooked this attempt, so it must not stay.
                backend.table().leave(attempt, notices);
                attempt = null;
                if (backend.session() == session) {
                    // The client does not know of the end yet. When it does, it submits the claim again.
                    break;
                }
            }
        }
        notices.deliver(); // which may be the answer
        backend.link().toClient(this::waits);
    }

    /** The engine has queued it, unless it has its answer. */
    private void waits() {
        boolean news;
        synchronized (this) {
            news = !waits && !settled && attempt != null;
            waits |= news;
        }
        if (news) {
            request.listener().waiting();
        }
    }

    /** The engine granted an attempt. */
    void granted(MemoryGrant granted) {
        boolean again = granted.isEnded();
        synchronized (this) {
            if (settled || attempt != granted) {
                return;
            }
            if (again) {
                // Revoked before it was known here, so no hold has been lost yet.
                attempt = null;
            }
            settled = !again;
        }
        if (again) {
            submit();
        } else {
            answer(new Outcome.Granted(granted));
        }
    }

    /** The engine refused an attempt that may not wait. */
    void busy(MemoryGrant refused) {
        synchronized (this) {
            if (settled || attempt != refused) {
                return;
            }
            settled = true;
        }
        answer(Outcome.Busy.INSTANCE);
    }

    /** The engine refused an attempt for good: the name is used in another way. */
    void refused(MemoryGrant refused, OptionalInt limit) {
        synchronized (this) {
            if (settled || attempt != refused) {
                return;
            }
            settled = true;
        }
        backend.forget(this);
        outcome.completeExceptionally(Limits.conflict(request.name(), request.limit(), limit));
    }

    /** The client was closed. */
    void fail(Throwable failure) {
        synchronized (this) {
            settled = true;
        }
        outcome.completeExceptionally(failure);
    }

    private void answer(Outcome answer) {
        backend.forget(this);
        outcome.complete(answer);
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return waits;
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        MemoryGrant last;
        synchronized (this) {
            settled = true;
            last = attempt;
        }
        backend.forget(this);
        return backend.withdraw(request, last);
    }
}
