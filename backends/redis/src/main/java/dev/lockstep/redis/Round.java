package dev.lockstep.redis;

import dev.lockstep.spi.Scheduler;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One try of a claim to get a majority of the servers. Guarded by the claim's monitor. */
final class Round {
    /*
     * Overview. All servers are asked at once. As soon as a majority is the claim's, its token is drawn: above all that those
     * servers remember, and not below their clocks. It is then written to each server that is the claim's, provided that
     * the server has given no other token since it was asked. The round is won by a majority of such writes on servers
     * that have a vote.
     *
     * Two claims that both win have a server in common that wrote both tokens; the later write there came after the later
     * claim had read the earlier token. So tokens rise, whatever pauses do, as long as servers keep their data;
     * of a lock that was not used for 20 minutes they remember nothing, and it is their clocks that must agree by then.
     *
     * The round is lost when a majority cannot be had any more; or when it did not come together some time after most
     * servers have answered, since what the claim has meanwhile, others cannot have.
     */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private enum Mark {
        ASKED,
        CONFIRMING,
        CONFIRMED,
        WAITS,
        BUSY,
        REFUSED,
        FAILED
    }

    private final RedlockClaim claim;
    private final long sentNanos;
    private final Mark[] marks;
    private final long[] seen;
    private final @Nullable Seat.Reply[] replies;
    private long token;
    private boolean wanted;
    private boolean over;
    private boolean won;
    private @Nullable Failure failure;
    private int finalFailures;
    private Scheduler.@Nullable Timer patience;

    Round(RedlockClaim claim, int servers, long sentNanos) {
        this.claim = claim;
        this.sentNanos = sentNanos;
        this.marks = new Mark[servers];
        this.seen = new long[servers];
        this.replies = new Seat.Reply[servers];
        Arrays.fill(marks, Mark.ASKED);
    }

    boolean isOver() {
        return over;
    }

    boolean isWon() {
        return won;
    }

    long token() {
        return token;
    }

    boolean isWanted() {
        return wanted;
    }

    long sentNanos() {
        return sentNanos;
    }

    // ---------------------------------------------------------------- what servers say

    /** A server has answered. What is returned is to be run without the monitor. */
    Runnable answered(Seat seat, Seat.Reply reply) {
        int index = seat.member().index();
        replies[index] = reply;
        switch (reply.kind()) {
            case HAS -> {
                marks[index] = Mark.CONFIRMING;
                seen[index] = reply.seen();
                if (over && !won) {
                    claim.tooLate(this, seat);
                } else if (token > 0) {
                    confirm(seat);
                } else {
                    drawToken();
                }
            }
            case WAITS -> marks[index] = Mark.WAITS;
            case BUSY -> marks[index] = Mark.BUSY;
            default -> marks[index] = Mark.REFUSED;
        }
        return settle();
    }

    private void drawToken() {
        if (count(mark -> mark == Mark.CONFIRMING) < claim.backend().majority()) {
            return;
        }
        long highest = 0;
        for (int i = 0; i < marks.length; i++) {
            Seat.Reply reply = replies[i];
            if (marks[i] == Mark.CONFIRMING && reply != null) {
                highest = Math.max(highest, Math.max(reply.seen() + 1, reply.micros()));
            }
        }
        token = highest;
        for (int i = 0; i < marks.length; i++) {
            if (marks[i] == Mark.CONFIRMING) {
                confirm(claim.seat(i));
            }
        }
    }

    private void confirm(Seat seat) {
        int index = seat.member().index();
        if (seen[index] < token) {
            seat.confirm(this, seen[index], token);
        } else {
            marks[index] = Mark.REFUSED; // it remembers a token that this one is not above
        }
    }

    /** A server has written the token, or has not. */
    Runnable confirmed(Seat seat, boolean done, boolean others) {
        wanted |= others;
        marks[seat.member().index()] = done ? Mark.CONFIRMED : Mark.REFUSED;
        return settle();
    }

    /** A server has not answered. */
    Runnable failed(Seat seat, Failure reason) {
        marks[seat.member().index()] = Mark.FAILED;
        if (reason.kind() == Failure.Kind.FINAL) {
            finalFailures++;
        }
        if (failure == null || weight(reason) >= weight(failure)) {
            failure = reason;
        }
        return settle();
    }

    /** What an operator is to mend says more than what may pass, and an answer more than none. */
    private static int weight(Failure failure) {
        return failure.kind() == Failure.Kind.FINAL ? 2 : failure.isRefusal() ? 1 : 0;
    }

    // ---------------------------------------------------------------- what follows

    private Runnable settle() {
        if (over) {
            return () -> {};
        }
        int majority = claim.backend().majority();
        int votes = count(mark -> mark == Mark.CONFIRMED) - young();
        if (votes >= majority) {
            won = true;
            return end();
        }
        int open = votes + count(mark -> mark == Mark.ASKED || mark == Mark.CONFIRMING);
        // Who has the others is of interest too, so that a lock that is held is told from one that is split.
        if (open < majority && (isAnsweredByMajority() || count(mark -> mark == Mark.ASKED) == 0)) {
            return end();
        }
        if (patience == null && count(mark -> mark != Mark.ASKED) >= majority) {
            Scheduler scheduler = claim.backend().scheduler();
            long elapsed = scheduler.nanoTime() - sentNanos;
            patience = scheduler.schedule(PATIENCE_NANOS + 3 * elapsed, () -> {
                Runnable next;
                synchronized (claim) {
                    next = over ? () -> {} : end();
                }
                next.run();
            });
        }
        return () -> {};
    }

    private Runnable end() {
        cancel();
        return claim.decided(this);
    }

    /** Nobody needs it any more. */
    void cancel() {
        over = true;
        if (patience != null) {
            patience.cancel();
        }
    }

    private int count(Predicate<Mark> which) {
        int count = 0;
        for (Mark mark : marks) {
            if (which.test(mark)) {
                count++;
            }
        }
        return count;
    }

    // ---------------------------------------------------------------- why it was lost

    /** Whether this claim has a server, as far as it knows. */
    boolean has(int index) {
        Seat.Reply reply = replies[index];
        return reply != null && reply.kind() == Seat.Reply.Kind.HAS;
    }

    /** How many servers are another's. */
    int takenByOthers() {
        return count(mark -> mark == Mark.WAITS || mark == Mark.BUSY);
    }

    /** How many servers agree, but are too young to vote; looked at anew each time, since servers tell of longer ttls. */
    int young() {
        int young = 0;
        for (int i = 0; i < marks.length; i++) {
            if (marks[i] == Mark.CONFIRMED && !claim.seat(i).member().hasVote()) {
                young++;
            }
        }
        return young;
    }

    /** A failure that no retry mends, if it was met at so many servers that the others are too few. */
    @Nullable
    Failure finalFailure() {
        return finalFailures > marks.length - claim.backend().majority() ? failure : null;
    }

    /** The failure that says most of why servers did not answer, if there was any. */
    @Nullable
    Failure failure() {
        return failure;
    }

    boolean isAnsweredByMajority() {
        return count(mark -> mark != Mark.FAILED && mark != Mark.ASKED)
                >= claim.backend().majority();
    }

    /** Whether one other claim has a majority. */
    boolean isHeldByAnother() {
        Map<String, Integer> owners = new HashMap<>();
        for (Seat.Reply reply : replies) {
            String owner = reply == null ? "" : RedisClaim.claimIdOf(reply.owner());
            // What this claim has given up under an earlier id is no other's.
            if (!owner.isEmpty() && !owner.equals(claim.request().claimId())) {
                int servers = owners.merge(owner, 1, Integer::sum);
                if (servers >= claim.backend().majority()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** In how many milliseconds a majority may be free by itself; negative if nobody knows. */
    long freeInMillis() {
        long[] times = Arrays.stream(replies)
                .mapToLong(reply -> reply == null || reply.freeInMillis() < 0 ? Long.MAX_VALUE : reply.freeInMillis())
                .sorted()
                .toArray();
        long time = times[claim.backend().majority() - 1];
        return time == Long.MAX_VALUE ? -1 : time;
    }
}
