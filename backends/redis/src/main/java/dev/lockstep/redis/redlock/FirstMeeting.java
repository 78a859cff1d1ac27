package dev.lockstep.redis.redlock;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.spi.Answers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first meeting of a client with its servers. A majority must answer, and none of those that answer may be set up in a
 * way that cannot work.
 *
 * <p>If none of them knows that it is one of several, the set is new: each server is as old as its uptime, so that servers
 * which have long been up vote at once. If some know, the others have lost their data, or were not there when the set was
 * founded; they count as newly started.
 */
final class FirstMeeting {
    private static final Logger log = LoggerFactory.getLogger(FirstMeeting.class);
    private static final Duration FOR_THE_OTHERS = Duration.ofMillis(300);

    private FirstMeeting() {}

    /** Waits for a majority, and for the others a little longer. */
    static void of(List<Member> members, int majority, Duration patience) {
        List<CompletableFuture<Boolean>> all =
                members.stream().map(Member::seen).toList();
        CompletableFuture<List<Boolean>> enough = Quorum.of(all, majority);
        Answers.await(enough, patience);
        Answers.await(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)), FOR_THE_OTHERS);
        List<Member> present = new ArrayList<>();
        for (Member member : members) {
            CompletableFuture<Boolean> seen = member.seen();
            Throwable refusal = Quorum.failureOf(seen);
            if (refusal instanceof LockConfigurationException misfit) {
                throw misfit;
            }
            if (seen.isDone() && refusal == null) {
                present.add(member);
            } else {
                member.comesLate();
                log.warn(
                        "{} is unreachable; the remaining servers continue without it until it answers. {}",
                        member,
                        refusal == null ? "It did not answer in time." : refusal.getMessage());
            }
        }
        if (present.size() < majority) {
            throw new LockUnavailableException(
                    null,
                    "Only " + present.size() + " of " + members.size() + " servers of a Redlock answered in time, and "
                            + majority + " are needed: "
                            + members.stream()
                                    .map(m -> m.link().route().toString())
                                    .toList()
                            + ".",
                    Quorum.failureOf(enough));
        }
        MemberChecks.warnOfDifferent(present);
        boolean founding = present.stream().noneMatch(member -> member.seen().join());
        for (Member member : present) {
            try {
                member.join(founding ? "found" : "admit");
            } catch (Failure e) {
                log.warn("{} left again at once", member, e);
            }
        }
        long young = present.stream().filter(member -> !member.hasVote()).count();
        if (young > 0) {
            log.warn("{} of {} servers were started too recently to have a vote.", young, members.size());
        }
    }
}
