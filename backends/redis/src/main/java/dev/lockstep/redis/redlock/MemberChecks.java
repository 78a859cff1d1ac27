package dev.lockstep.redis.redlock;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.redis.internal.StartUpCheck;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the servers of a Redlock by their own reports: no server may be listed twice, and all should be set up
 * alike.
 */
final class MemberChecks {
    private static final Logger log = LoggerFactory.getLogger(MemberChecks.class);

    private MemberChecks() {}

    /**
     * Looks at a server that was just met, beside all that have been.
     *
     * @throws LockConfigurationException if it is one of the others under another name
     */
    static void refuseTwice(Member met, List<Member> all) {
        String run = met.facts().get("run_id");
        for (Member other : all) {
            if (other != met && run != null && run.equals(other.facts().get("run_id"))) {
                throw new LockConfigurationException(
                        null,
                        met + " and " + other
                                + " are the same server. It would"
                                + " have two votes, so that one crash takes both. Name each server once.");
            }
        }
    }

    /** Warns if those that have been met are not set up alike. */
    static void warnOfDifferent(List<Member> all) {
        warnOfDifferent(all, StartUpCheck::productAndVersion, "run different versions");
        warnOfDifferent(
                all, facts -> facts.getOrDefault("maxmemory_policy", ""), "have different values of maxmemory-policy");
    }

    private static void warnOfDifferent(List<Member> members, Function<Map<String, String>, String> fact, String what) {
        TreeSet<String> values = new TreeSet<>();
        for (Member member : members) {
            String value = fact.apply(member.facts());
            if (!value.isEmpty()) {
                values.add(value);
            }
        }
        if (values.size() > 1) {
            log.warn(
                    "The servers of a Redlock {}, {}: locks work, but a server may forget locks that the others keep."
                            + " Configure all servers the same way.",
                    what,
                    values);
        }
    }
}
