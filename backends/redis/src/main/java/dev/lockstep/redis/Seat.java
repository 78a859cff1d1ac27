package dev.lockstep.redis;

import static dev.lockstep.redis.Dialect.bytes;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim at one of several servers. What it asks of the server goes there in order, one request at a time; so a server
 * that is slow keeps nobody waiting but itself. Guarded by the claim's monitor.
 *
 * <p>A request that was sent and not answered may arrive at any time later. One that asks or confirms then does no harm
 * to the claim that lives; one that yields would give away what the claim has got since. So a claim that is unsure of a
 * yield goes on under another id at this server, and the old one is given up there for good.
 */
final class Seat {
    private static final byte[] YES = bytes("1");
    private static final byte[] NO = bytes("0");

    private final RedlockClaim claim;
    private final Member member;
    private final Deque<Step> todo = new ArrayDeque<>();
    private boolean busy;
    private boolean leaving;
    private boolean known;
    private boolean unsure;
    private int lives;
    private String id;
    private byte[] owner;

    Seat(RedlockClaim claim, Member member) {
        this.claim = claim;
        this.member = member;
        this.id = claim.request().claimId();
        this.owner = bytes(id);
    }

    Member member() {
        return member;
    }

    /** What identifies the claim at this server. */
    String id() {
        synchronized (claim) {
            return id;
        }
    }

    byte[] owner() {
        synchronized (claim) {
            return owner;
        }
    }

    /** What a server says to a claim that asks. */
    record Reply(Kind kind, long seen, long micros, long freeInMillis, String owner) {
        enum Kind {
            HAS,
            WAITS,
            BUSY,
            GIVEN_UP
        }

        static Reply of(List<?> reply) {
            long first = (Long) reply.get(0);
            if (first == 1) {
                return new Reply(Kind.HAS, (Long) reply.get(1), (Long) reply.get(2), 0, "");
            }
            if (first == -2) {
                return new Reply(Kind.GIVEN_UP, 0, 0, -1, "");
            }
            return new Reply(
                    first == 0 ? Kind.WAITS : Kind.BUSY, 0, 0, (Long) reply.get(1), Dialect.text(reply.get(2)));
        }
    }

    // ---------------------------------------------------------------- requests, one after another

    /** Something to do at the server; it calls {@link #next} when it is done. */
    @FunctionalInterface
    private interface Step {
        void begin();
    }

    private void enqueue(Step step) {
        synchronized (claim) {
            todo.add(step);
            if (!busy) {
                busy = true;
                next();
            }
        }
    }

    /** Begins what comes next; until its answer is there, that is all that happens here. */
    private void next() {
        synchronized (claim) {
            Step step = todo.poll();
            if (step == null) {
                busy = false;
            } else {
                step.begin();
            }
        }
    }

    private void send(
            Script script, byte[][] keys, byte[][] args, BiConsumer<@Nullable Object, @Nullable Failure> then) {
        member.mailbox().send(script, keys, args, script != Script.REDLOCK_ACQUIRE, (answer, failure) -> {
            member.isAway(failure != null && failure.kind() != Failure.Kind.FINAL);
            then.accept(answer, failure);
        });
    }

    // ---------------------------------------------------------------- what a claim does at a server

    /** Asks for the lock here, for a round. */
    void ask(Round round, boolean mayWait, boolean mayBarge) {
        enqueue(() -> {
            if (leaving || (round.isOver() && !round.isWon())) {
                next();
                return;
            }
            byte[][] args = {
                owner,
                mayWait ? YES : NO,
                mayBarge ? YES : NO,
                claim.backend().ttlMillis(),
                claim.backend().waiterExpiryMillis(),
                claim.info()
            };
            send(Script.REDLOCK_ACQUIRE, claim.keys().queued(), args, (answer, failure) -> {
                Reply reply = answer == null ? null : Reply.of((List<?>) answer);
                Runnable then;
                synchronized (claim) {
                    if (reply != null) {
                        // A claim that asks once more without waiting may have a place in the queue from before.
                        known = reply.kind() == Reply.Kind.HAS
                                || reply.kind() == Reply.Kind.WAITS
                                || (known && !mayWait);
                    }
                    then = reply != null ? round.answered(this, reply) : failed(round, failure);
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
            byte[][] args = {owner, bytes(seen), bytes(token), bytes(backend.longestMillis()), bytes(backend.size())};
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

    /** Gives the server back for now, and waits there if the claim may. */
    void giveWay(boolean mayWait) {
        enqueue(() -> {
            if (leaving) {
                next();
                return;
            }
            byte[][] args = {owner, mayWait ? YES : NO, claim.backend().waiterExpiryMillis(), claim.info()};
            send(Script.REDLOCK_YIELD, claim.keys().queued(), args, (answer, failure) -> {
                synchronized (claim) {
                    if (failure == null) {
                        known = mayWait;
                    } else if (failure.kind() == Failure.Kind.UNKNOWN) {
                        abandon();
                    }
                    next();
                }
            });
        });
    }

    private void abandon() {
        if (leaving) {
            unsure = true;
            return;
        }
        byte[] old = owner;
        id = claim.request().claimId() + RedisClaim.LIFE + ++lives;
        owner = bytes(id);
        known = false;
        CompletableFuture<Boolean> gone = new CompletableFuture<>();
        member.leaves(gone);
        new Departure(old, true, gone).send();
    }

    /** Gives back what the claim has here, for good; tells whether it had the server. */
    CompletableFuture<Boolean> leave() {
        synchronized (claim) {
            leaving = true;
            if (!busy && !known && !unsure) {
                return CompletableFuture.completedFuture(false);
            }
            CompletableFuture<Boolean> had = new CompletableFuture<>();
            member.leaves(had);
            enqueue(() -> {
                if (known || unsure) {
                    new Departure(owner, unsure, had).send();
                } else {
                    member.link().execute(() -> had.complete(false)); // without the monitor
                }
            });
            return had;
        }
    }

    /** The server took away what the claim had. */
    void lost() {
        synchronized (claim) {
            known = false;
        }
    }

    private Runnable failed(Round round, @Nullable Failure failure) {
        if (failure == null) {
            throw new IllegalStateException("neither answer nor failure");
        }
        unsure |= failure.kind() == Failure.Kind.UNKNOWN;
        return round.failed(this, failure);
    }

    /** A release, which is tried until the server answers or the ttl has passed. */
    private final class Departure {
        private final byte[][] args;
        private final CompletableFuture<Boolean> had;
        private final long endNanos;
        private int failures;
        private boolean again;

        Departure(byte[] of, boolean late, CompletableFuture<Boolean> had) {
            RedlockBackend backend = claim.backend();
            this.args = new byte[][] {of, late ? backend.ttlMillis() : NO};
            this.had = had;
            this.endNanos = backend.scheduler().nanoTime() + backend.ttl().toNanos();
        }

        void send() {
            if (!had.isDone()) {
                Seat.this.send(Script.RELEASE, claim.keys().queued(), args, this::answered);
            }
        }

        private void answered(@Nullable Object answer, @Nullable Failure failure) {
            if (failure == null) {
                // Nobody but an earlier try of this release can have taken it away while it was valid.
                had.complete(Long.valueOf(1).equals(answer) || (again && claim.isValid()));
                return;
            }
            again |= failure.kind() == Failure.Kind.UNKNOWN;
            RedlockBackend backend = claim.backend();
            // The first time a connection may just have been idle for too long; the next is a new one.
            long delay = failures++ == 0
                    ? 0
                    : backend.context().retryBackoff().delay(failures).toNanos();
            if (!failure.mayPass() || backend.scheduler().nanoTime() + delay - endNanos >= 0) {
                had.completeExceptionally(
                        failure.asLockstepException(claim.request().name(), "release"));
            } else {
                backend.scheduler().schedule(delay, this::send);
            }
        }
    }
}
