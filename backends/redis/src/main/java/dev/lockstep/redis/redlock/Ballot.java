package dev.lockstep.redis.redlock;

import static dev.lockstep.redis.internal.Bytes.text;

import dev.lockstep.redis.internal.ClaimId;
import dev.lockstep.spi.Renewer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The answers of all servers to a claim in one round, and the result: a pure function, without clock and connections.
 * Immutable.
 *
 * <p>A claim that has a majority of the servers draws a token above all that those servers remember, and writes it to each
 * of them. It has won with a majority of such writes at servers whose vote counts. Two claims that both win have a server
 * in common that wrote both tokens, so the later one is higher.
 *
 * @param votes one for each server
 */
record Ballot(List<Vote> votes) {
    /** How far a claim has come at one server. */
    enum Mark {
        /** No answer yet. */
        ASKED,
        /** The server is the claim's, but has not written its token yet. */
        CONFIRMING,
        /** The server is the claim's, and has written its token. */
        CONFIRMED,
        /** The server is another's, and the claim waits there. */
        WAITS,
        /** The server is another's. */
        BUSY,
        /** The server has given a token since it was asked, or has a note that the claim is gone. */
        REFUSED,
        /** No answer, and none will come. */
        FAILED
    }

    /**
     * A server's answer to a claim that asks.
     *
     * @param mark {@code CONFIRMING} if it is the claim's, {@code WAITS}, {@code BUSY} or {@code REFUSED}
     * @param seen the last token that the server knows, if it is the claim's
     * @param micros the server's clock, if it is the claim's
     * @param freeInMillis when the server may be free by itself; negative if nobody knows
     * @param owner the owner, if it is another claim; else empty
     */
    record Answer(Mark mark, long seen, long micros, long freeInMillis, String owner) {
        /** No answer. */
        static final Answer NONE = new Answer(Mark.ASKED, 0, 0, -1, "");

        static Answer of(List<?> reply) {
            long first = (Long) reply.get(0);
            if (first == 1) {
                return new Answer(Mark.CONFIRMING, (Long) reply.get(1), (Long) reply.get(2), 0, "");
            }
            if (first == -2) {
                return new Answer(Mark.REFUSED, 0, 0, -1, "");
            }
            Mark mark = first == 0 ? Mark.WAITS : Mark.BUSY;
            return new Answer(mark, 0, 0, (Long) reply.get(1), text(reply.get(2)));
        }
    }

    /**
     * One server's part.
     *
     * @param mark how far the claim has come there
     * @param answer what the server said
     * @param counts whether the server has a vote: not if it may have forgotten locks that are held
     */
    record Vote(Mark mark, Answer answer, boolean counts) {}

    int majority() {
        return votes.size() / 2 + 1;
    }

    /**
     * The token of a claim that has a majority: above all that those servers remember, and not below their clocks. 0 if it
     * has no majority.
     */
    long token() {
        if (count(mark -> mark == Mark.CONFIRMING) < majority()) {
            return 0;
        }
        return votes.stream()
                .filter(vote -> vote.mark() == Mark.CONFIRMING)
                .mapToLong(
                        vote -> Math.max(vote.answer().seen() + 1, vote.answer().micros()))
                .max()
                .orElse(0);
    }

    /** Whether a majority of servers that have a vote has written the token. */
    boolean isWon() {
        return confirmedVotes() >= majority();
    }

    /**
     * Whether it can no longer be won, and the owners of enough other servers are known to distinguish a lock that
     * a client holds from one whose servers are split between several claims.
     */
    boolean isLost() {
        int open = confirmedVotes() + count(mark -> mark == Mark.ASKED || mark == Mark.CONFIRMING);
        return open < majority() && (isAnsweredByMajority() || count(mark -> mark == Mark.ASKED) == 0);
    }

    private int confirmedVotes() {
        return count(mark -> mark == Mark.CONFIRMED) - young();
    }

    /** How many servers agree, but have no vote. */
    int young() {
        return (int) votes.stream()
                .filter(vote -> vote.mark() == Mark.CONFIRMED && !vote.counts())
                .count();
    }

    /** How many servers are another's. */
    int takenByOthers() {
        return count(mark -> mark == Mark.WAITS || mark == Mark.BUSY);
    }

    /** Whether a majority has answered, or will never. */
    boolean isHeardByMajority() {
        return count(mark -> mark != Mark.ASKED) >= majority();
    }

    boolean isAnsweredByMajority() {
        return count(mark -> mark != Mark.FAILED && mark != Mark.ASKED) >= majority();
    }

    /** Whether so many servers have some trait that the others are too few. */
    boolean isTooMany(int servers) {
        return servers > votes.size() - majority();
    }

    /** Whether one other claim has a majority. An earlier id of this claim is not another claim. */
    boolean isHeldByAnother(String claimId) {
        Map<String, Integer> owners = new HashMap<>();
        for (Vote vote : votes) {
            String owner = ClaimId.claimOf(vote.answer().owner());
            if (!owner.isEmpty() && !owner.equals(claimId) && owners.merge(owner, 1, Integer::sum) >= majority()) {
                return true;
            }
        }
        return false;
    }

    /** In how many milliseconds a majority may be free by itself; negative if nobody knows. */
    long freeInMillis() {
        long time = votes.stream()
                .mapToLong(vote -> vote.answer().freeInMillis())
                .map(free -> free < 0 ? Long.MAX_VALUE : free)
                .sorted()
                .skip(majority() - 1L)
                .findFirst()
                .orElse(Long.MAX_VALUE);
        return time == Long.MAX_VALUE ? -1 : time;
    }

    /**
     * Until when a lock is valid that was won: it counts from before the first server was asked, so that all servers of the
     * majority have it until then.
     */
    static long validUntilNanos(long sentNanos, Duration ttl) {
        return Renewer.deadline(sentNanos, ttl);
    }

    private int count(Predicate<Mark> which) {
        int count = 0;
        for (Vote vote : votes) {
            if (which.test(vote.mark())) {
                count++;
            }
        }
        return count;
    }
}
