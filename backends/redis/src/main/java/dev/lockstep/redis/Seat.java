package dev.lockstep.redis;

import static dev.lockstep.redis.Dialect.bytes;

import dev.lockstep.spi.ClaimRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A claim at one of several servers. What it asks of the server goes there in order, one request at a time, on threads of
 * the server's link; so a server that is slow keeps nobody waiting but itself. Guarded by the claim's monitor.
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
    private final Deque<Runnable> todo = new ArrayDeque<>();
    private boolean busy;
    private boolean leaving;
    private boolean known;
    private boolean unsure;
    private int lives;
    private String id;

    Seat(RedlockClaim claim, Member member) {
        this.claim = claim;
        this.member = member;
        this.id = claim.request().claimId();
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

    /** Asks for the lock here, for a round. */
    void ask(Round round, boolean mayWait, boolean mayBarge) {
        long deadline = member.link().deadline();
        enqueue(() -> {
            synchronized (claim) {
                if (leaving || round.isOver() && !round.isWon()) {
                    return;
                }
            }
            ClaimRequest request = claim.request();
            byte[][] args = {
                bytes(id()),
                mayWait ? YES : NO,
                mayBarge ? YES : NO,
                claim.backend().ttlMillis(),
                claim.backend().waiterExpiryMillis(),
                claim.info()
            };
            try {
                Reply reply = Reply.of(
                        (List<?>) eval(Script.REDLOCK_ACQUIRE, claim.keys().queued(), args, deadline));
                Runnable next;
                synchronized (claim) {
                    known = reply.kind() == Reply.Kind.HAS || reply.kind() == Reply.Kind.WAITS;
                    next = round.answered(this, reply);
                }
                next.run();
            } catch (Failure e) {
                failed(e);
                Runnable next;
                synchronized (claim) {
                    next = round.failed(this, e);
                }
                next.run();
            }
        });
    }

    /** Writes the claim's token here. */
    void confirm(Round round, long seen, long token) {
        long deadline = member.link().deadline();
        enqueue(() -> {
            RedlockBackend backend = claim.backend();
            byte[][] args = {
                bytes(id()), bytes(seen), bytes(token), bytes(backend.longestMillis()), bytes(backend.size())
            };
            Runnable next;
            try {
                List<?> reply =
                        (List<?>) eval(Script.REDLOCK_CONFIRM, claim.keys().chartered(), args, deadline);
                boolean done = reply.get(0).equals(1L);
                if (done) {
                    member.judged((Long) reply.get(1), (Long) reply.get(2));
                }
                boolean wanted = done && reply.get(3).equals(1L);
                synchronized (claim) {
                    next = round.confirmed(this, done, wanted);
                }
            } catch (Failure e) {
                failed(e);
                synchronized (claim) {
                    next = round.failed(this, e);
                }
            }
            next.run();
        });
    }

    /** Gives the server back for now, and waits there if the claim may. */
    void yield(boolean mayWait) {
        long deadline = member.link().deadline();
        enqueue(() -> {
            synchronized (claim) {
                if (leaving) {
                    return;
                }
            }
            byte[][] args = {bytes(id()), mayWait ? YES : NO, claim.backend().waiterExpiryMillis(), claim.info()};
            try {
                eval(Script.REDLOCK_YIELD, claim.keys().queued(), args, deadline);
                synchronized (claim) {
                    known = mayWait;
                }
            } catch (Failure e) {
                if (e.kind() == Failure.Kind.UNKNOWN) {
                    abandon();
                }
            }
        });
    }

    private void abandon() {
        String old;
        synchronized (claim) {
            if (leaving) {
                unsure = true;
                return;
            }
            old = id;
            id = claim.request().claimId() + RedisClaim.LIFE + ++lives;
            known = false;
        }
        release(old, true);
    }

    /** Gives back what the claim has here, for good; tells whether it had the server. */
    CompletableFuture<Boolean> leave() {
        CompletableFuture<Boolean> had = new CompletableFuture<>();
        synchronized (claim) {
            leaving = true;
            enqueue(() -> {
                boolean nothing;
                boolean late;
                synchronized (claim) {
                    nothing = !known && !unsure;
                    late = unsure;
                }
                if (nothing) {
                    had.complete(false);
                } else {
                    release(id(), late).whenComplete((answer, failure) -> {
                        if (failure == null) {
                            had.complete(answer);
                        } else {
                            had.completeExceptionally(failure);
                        }
                    });
                }
            });
        }
        return had;
    }

    /** Goes on in the background until the server answers; it need not be waited for. */
    private CompletableFuture<Boolean> release(String of, boolean late) {
        boolean[] again = new boolean[1];
        byte[][] args = {bytes(of), late ? claim.backend().ttlMillis() : NO};
        return member.requests()
                .untilAnswered(claim.request().name(), "release", member.link().requestTimeout(), deadline -> {
                    try {
                        boolean had = eval(Script.RELEASE, claim.keys().queued(), args, deadline)
                                .equals(1L);
                        // Nobody but an earlier try of this release can have taken it away while it was valid.
                        return had || again[0] && claim.isValid();
                    } catch (Failure e) {
                        again[0] |= e.kind() == Failure.Kind.UNKNOWN;
                        throw e;
                    }
                });
    }

    private Object eval(Script script, byte[][] keys, byte[][] args, long deadlineNanos) throws Failure {
        return member.link().eval(script, -1, keys, args, deadlineNanos);
    }

    private void failed(Failure failure) {
        synchronized (claim) {
            unsure |= failure.kind() == Failure.Kind.UNKNOWN;
        }
    }

    /** The server took away what the claim had. */
    void lost() {
        synchronized (claim) {
            known = false;
        }
    }

    private void enqueue(Runnable task) {
        synchronized (claim) {
            todo.add(task);
            if (busy) {
                return;
            }
            busy = true;
        }
        member.link().execute(this::work);
    }

    private void work() {
        while (true) {
            @Nullable Runnable task;
            synchronized (claim) {
                task = todo.poll();
                if (task == null) {
                    busy = false;
                    return;
                }
            }
            task.run();
        }
    }
}
