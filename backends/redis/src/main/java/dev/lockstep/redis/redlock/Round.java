package dev.lockstep.redis.redlock;

import dev.lockstep.redis.internal.Failure;
import dev.lockstep.spi.Scheduler;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One try of a claim to get a majority of the servers. Guarded by the claim's monitor. */
final class Round {
    /*
     * Overview. All servers are asked at once. As soon as a majority is the claim's, its token is drawn and written to each
     * server that is the claim's, provided that the server has given no other token since it was asked. The Ballot
     * says what counts as won and lost; this class keeps the servers' answers, and decides when.
     *
     * Tokens rise, whatever pauses do, as long as servers keep their data. A server that has written a token forgets it only
     * when its own clock is past it, and so draws a higher one then.
     *
     * A round also ends some time after most servers have answered: what the claim has meanwhile, others cannot have.
     */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Runnable NOTHING = () -> {};

    private enum State {
        OPEN,
        WON,
        LOST
    }

    private final RedlockClaim claim;
    private final long sentNanos;
    private final Ballot.Mark[] marks;
    private final Ballot.Answer[] answers;
    private State state = State.OPEN;
    private long token;
    private boolean wanted;
    private @Nullable Failure failure;
    private int finalFailures;
    private Scheduler.@Nullable Timer patience;

    Round(RedlockClaim claim, int servers, long sentNanos) {
        this.claim = claim;
        this.sentNanos = sentNanos;
        this.marks = new Ballot.Mark[servers];
        this.answers = new Ballot.Answer[servers];
        Arrays.fill(marks, Ballot.Mark.ASKED);
        Arrays.fill(answers, Ballot.Answer.NONE);
    }

    /** The answers until now. Checks again whether servers have a vote, since they report longer ttls. */
    Ballot ballot() {
        List<Ballot.Vote> votes = IntStream.range(0, marks.length)
                .mapToObj(i -> new Ballot.Vote(
                        marks[i], answers[i], claim.memberClaim(i).member().hasVote()))
                .toList();
        return new Ballot(votes);
    }

    boolean isOver() {
        return state != State.OPEN;
    }

    boolean isWon() {
        return state == State.WON;
    }

    boolean isLost() {
        return state == State.LOST;
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

    /** Whether this claim has a server, as far as it knows. */
    boolean has(int index) {
        return answers[index].mark() == Ballot.Mark.CONFIRMING;
    }

    /** A failure that no retry can fix, if so many servers reported it that the others are too few. */
    @Nullable
    Failure finalFailure() {
        return ballot().isTooMany(finalFailures) ? failure : null;
    }

    /** The failure that best explains why servers did not answer, if there was any. */
    @Nullable
    Failure failure() {
        return failure;
    }

    // ---------------------------------------------------------------- what servers say

    /** A server has answered. Run the result after the monitor is left. */
    Runnable answered(MemberClaim at, Ballot.Answer answer) {
        int index = at.member().index();
        answers[index] = answer;
        marks[index] = answer.mark();
        if (answer.mark() == Ballot.Mark.CONFIRMING) {
            if (isLost()) {
                claim.tooLate(this, at);
            } else if (token > 0) {
                confirm(at);
            } else {
                drawToken();
            }
        }
        return settle();
    }

    private void drawToken() {
        token = ballot().token();
        for (int i = 0; i < marks.length && token > 0; i++) {
            if (marks[i] == Ballot.Mark.CONFIRMING) {
                confirm(claim.memberClaim(i));
            }
        }
    }

    private void confirm(MemberClaim at) {
        int index = at.member().index();
        long seen = answers[index].seen();
        if (seen < token) {
            at.confirm(this, seen, token);
        } else {
            marks[index] = Ballot.Mark.REFUSED; // it remembers a token that this one is not above
        }
    }

    /** A server has written the token, or has not. */
    Runnable confirmed(MemberClaim at, boolean done, boolean others) {
        wanted |= others;
        marks[at.member().index()] = done ? Ballot.Mark.CONFIRMED : Ballot.Mark.REFUSED;
        return settle();
    }

    /** A server has not answered. */
    Runnable failed(MemberClaim at, Failure reason) {
        marks[at.member().index()] = Ballot.Mark.FAILED;
        if (reason.kind() == Failure.Kind.FINAL) {
            finalFailures++;
        }
        if (failure == null || weight(reason) >= weight(failure)) {
            failure = reason;
        }
        return settle();
    }

    /** A failure that an operator must fix says more than a temporary one, and an answer more than none. */
    private static int weight(Failure failure) {
        return failure.kind() == Failure.Kind.FINAL ? 2 : failure.isRefusal() ? 1 : 0;
    }

    // ---------------------------------------------------------------- what follows

    private Runnable settle() {
        if (isOver()) {
            return NOTHING;
        }
        Ballot ballot = ballot();
        if (ballot.isWon()) {
            return end(State.WON);
        }
        if (ballot.isLost()) {
            return end(State.LOST);
        }
        if (patience == null && ballot.isHeardByMajority()) {
            Scheduler scheduler = claim.backend().scheduler();
            long elapsed = scheduler.nanoTime() - sentNanos;
            patience = scheduler.schedule(PATIENCE_NANOS + 3 * elapsed, () -> {
                Runnable next;
                synchronized (claim) {
                    next = isOver() ? NOTHING : end(State.LOST);
                }
                next.run();
            });
        }
        return NOTHING;
    }

    private Runnable end(State how) {
        end();
        state = how;
        return claim.decided(this);
    }

    /** No claim needs it any more. */
    void cancel() {
        end();
        state = isOver() ? state : State.LOST;
    }

    private void end() {
        if (patience != null) {
            patience.cancel();
        }
    }
}
