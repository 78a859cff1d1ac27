package dev.lockstep.redis.redlock;

import static dev.lockstep.redis.internal.Bytes.bytes;

import dev.lockstep.redis.internal.ClaimId;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.redis.internal.Trace;
import dev.lockstep.spi.Retry;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim at one of several servers. Its requests go to the server in order, one at a time; so a slow server delays
 * only its own requests. Guarded by the claim's monitor.
 *
 * <p>A request that was sent and not answered may arrive at any time later. One that asks or confirms then does no harm
 * to the claim that lives; one that yields would give away what the claim has got since. So a claim that is unsure of a
 * yield continues under another id at this server, and the old one is given up there for good.
 */
final class MemberClaim {
    private static final byte[] YES = bytes("1");
    private static final byte[] NO = bytes("0");

    /** How a claim stands to its requests at one server. */
    private enum State {
        /** No request is on its way. */
        RESTING,
        /** A request is on its way. */
        BUSY,
        /** It leaves for good: a scheduled request or yield then does nothing. */
        LEAVING
    }

    private final RedlockClaim claim;
    private final Member member;
    private final CompletableFuture<Boolean> left = new CompletableFuture<>();
    private final Deque<Runnable> todo = new ArrayDeque<>(); // each calls next() when it is done
    private State state = State.RESTING;
    private Trace trace = Trace.NONE;
    private ClaimId id;

    MemberClaim(RedlockClaim claim, Member member) {
        this.claim = claim;
        this.member = member;
        this.id = ClaimId.of(claim.request().claimId());
    }

    Member member() {
        return member;
    }

    /** The id of the claim on this server. */
    ClaimId id() {
        synchronized (claim) {
            return id;
        }
    }

    // ---------------------------------------------------------------- requests, one after another

    private void enqueue(Runnable step) {
        synchronized (claim) {
            todo.add(step);
            if (state == State.RESTING) {
                state = State.BUSY;
                next();
            }
        }
    }

    /** Begins what comes next; until its answer is there, that is all that happens here. */
    private void next() {
        synchronized (claim) {
            Runnable step = todo.poll();
            if (step != null) {
                step.run();
            } else if (state == State.BUSY) {
                state = State.RESTING;
            }
        }
    }

    private void send(
            Script script, byte[][] keys, byte[][] args, BiConsumer<@Nullable Object, @Nullable Failure> then) {
        member.queue().send(script, keys, args, script != Script.REDLOCK_ACQUIRE, (answer, failure) -> {
            member.isAway(failure != null && failure.kind() != Failure.Kind.FINAL);
            then.accept(answer, failure);
        });
    }

    // ---------------------------------------------------------------- what a claim does at a server

    /** Asks for the lock here, for a round. */
    void ask(Round round, boolean mayWait, boolean mayBarge) {
        enqueue(() -> {
            if (state == State.LEAVING || round.isLost()) {
                next();
                return;
            }
            byte[][] args = {
                id.bytes(),
                mayWait ? YES : NO,
                mayBarge ? YES : NO,
                claim.backend().ttlMillis(),
                claim.backend().waiterExpiryMillis(),
                claim.info()
            };
            send(Script.REDLOCK_ACQUIRE, claim.keys().queued(), args, (reply, failure) -> {
                Ballot.Answer answer = reply == null ? null : Ballot.Answer.of((List<?>) reply);
                Runnable then;
                synchronized (claim) {
                    if (answer != null) {
                        boolean here = answer.mark() == Ballot.Mark.CONFIRMING || answer.mark() == Ballot.Mark.WAITS;
                        // A claim that asks again without waiting may have a place in the queue from before.
                        trace = trace.answered(here || (trace == Trace.KNOWN && !mayWait));
                    }
                    then = answer != null ? round.answered(this, answer) : failed(round, failure);
                    next();
                }
                then.run();
            });
        });
    }

    /** Writes the claim's token here. */
    void confirm(Round round, long seen, long token) {
        enqueue(() -> {
            RedlockBackend backend = claim.backend();
            byte[][] args = {
                id.bytes(), bytes(seen), bytes(token), bytes(backend.longestMillis()), bytes(backend.size())
            };
            send(Script.REDLOCK_CONFIRM, claim.keys().chartered(), args, (answer, failure) -> {
                List<?> reply = (List<?>) answer;
                boolean done = reply != null && reply.get(0).equals(1L);
                if (reply != null && done) {
                    member.judged((Long) reply.get(1), (Long) reply.get(2));
                }
                boolean wanted = reply != null && done && reply.get(3).equals(1L);
                Runnable then;
                synchronized (claim) {
                    then = reply != null ? round.confirmed(this, done, wanted) : failed(round, failure);
                    next();
                }
                then.run();
            });
        });
    }

    /** Frees the server for now, and waits there if the claim may. */
    void giveWay(boolean mayWait) {
        enqueue(() -> {
            if (state == State.LEAVING) {
                next();
                return;
            }
            byte[][] args = {id.bytes(), mayWait ? YES : NO, claim.backend().waiterExpiryMillis(), claim.info()};
            send(Script.REDLOCK_YIELD, claim.keys().queued(), args, (answer, failure) -> {
                synchronized (claim) {
                    if (failure == null) {
                        trace = trace.answered(mayWait);
                    } else if (failure.kind() == Failure.Kind.UNKNOWN) {
                        abandon();
                    }
                    next();
                }
            });
        });
    }

    private void abandon() {
        if (state == State.LEAVING) {
            trace = Trace.UNSURE;
            return;
        }
        byte[] old = id.bytes();
        id = id.nextLife();
        trace = trace.answered(false);
        CompletableFuture<Boolean> gone = new CompletableFuture<>();
        member.leaves(gone);
        new Release(old, true, gone).send();
    }

    /** Releases what the claim has here, for good; returns whether it had the server. */
    CompletableFuture<Boolean> leave() {
        synchronized (claim) {
            if (state == State.LEAVING) {
                return left;
            }
            boolean busy = state == State.BUSY;
            state = State.LEAVING;
            if (!busy && trace == Trace.NONE) {
                left.complete(false);
                return left;
            }
            member.leaves(left);
            todo.add(() -> {
                if (trace != Trace.NONE) {
                    new Release(id.bytes(), trace == Trace.UNSURE, left).send();
                } else {
                    member.link().execute(() -> left.complete(false)); // without the monitor
                }
            });
            if (!busy) {
                next();
            }
            return left;
        }
    }

    /** The server took away what the claim had. */
    void lost() {
        synchronized (claim) {
            trace = trace.answered(false);
        }
    }

    private Runnable failed(Round round, @Nullable Failure failure) {
        if (failure == null) {
            throw new IllegalStateException("neither answer nor failure");
        }
        if (failure.kind() == Failure.Kind.UNKNOWN) {
            trace = Trace.UNSURE;
        }
        return round.failed(this, failure);
    }

    /** A release, which is tried until the server answers or the ttl has passed. */
    private final class Release {
        private final byte[][] args;
        private final CompletableFuture<Boolean> had;
        private final Retry retry = Retry.forTtl(claim.backend().context()).firstAtOnce();
        private boolean again;

        Release(byte[] of, boolean late, CompletableFuture<Boolean> had) {
            this.args = new byte[][] {of, late ? claim.backend().ttlMillis() : NO};
            this.had = had;
        }

        void send() {
            if (!had.isDone()) {
                MemberClaim.this.send(Script.RELEASE, claim.keys().queued(), args, this::answered);
            }
        }

        private void answered(@Nullable Object answer, @Nullable Failure failure) {
            if (failure == null) {
                // While it was valid, only an earlier try of this release can have removed it.
                had.complete(Long.valueOf(1).equals(answer) || (again && claim.isValid()));
                return;
            }
            again |= failure.kind() == Failure.Kind.UNKNOWN;
            if (!failure.mayPass() || !retry.later(this::send)) {
                had.completeExceptionally(
                        failure.asLockstepException(claim.request().name(), "release"));
            }
        }
    }
}
