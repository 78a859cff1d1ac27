package dev.lockstep.torture;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntToLongFunction;

/*
 * Overview. Threads of a client share claims and grants for a lock that is not fair: a call that gives up leaves its claim to
 * those that still wait; a call that is done hands the grant on; a reader can also use a claim of a writer. So a call can
 * use a claim that was made long before the call came, but only if some call made it. From then on, at any time, either a
 * call of the client waits, which owns the claim, or one is inside with that grant. Such a call is recognized by its token,
 * unless it lost its hold before it could ask for the token. The client keeps the grant of a sticky lock for its next call.
 */
/** The earliest time at which a client may have made the claim that one of its calls uses. For one lock; for one thread. */
final class Claims {
    private static final int INDEX_BITS = 10; // holds of one grant have tokens of their own, which differ in these

    private final History history;
    private final int[] sections;
    private final Map<Integer, Calls> byClient = new HashMap<>();

    Claims(History history, int[] sections) {
        this.history = history;
        this.sections = sections;
    }

    /** Whether the grant that a section used can have been asked for before a time. */
    boolean mayBeFromBefore(long time, int section) {
        Calls calls = byClient.computeIfAbsent(history.client(section), Calls::new);
        return calls.usedBefore(time, grant(section)) || calls.isThere(time);
    }

    private long grant(int section) {
        return history.token(section) >> INDEX_BITS;
    }

    /** The calls of one client. */
    private final class Calls {
        private final int[] byToken;
        private final int[] byAsking;
        private final long[] latest; // until when one was there of those up to here in byAsking

        Calls(int client) {
            int[] all = Checker.only(sections, section -> history.client(section) == client);
            byToken = Order.by(history::token, all);
            byAsking = Order.by(history::asked, Checker.only(all, section -> !history.isFair(section)));
            latest = new long[byAsking.length];
            for (int i = 0; i < latest.length; i++) {
                long until = until(byAsking[i]);
                if (keepsAnUnknownGrant(byAsking[i])) {
                    until = Math.max(until, nextAsked(i));
                }
                latest[i] = i == 0 ? until : Math.max(latest[i - 1], until);
            }
        }

        /** Until when it waited; or was inside, if it is not known by which grant. */
        private long until(int section) {
            long until = history.token(section) != 0 ? history.entered(section) : history.exited(section);
            return until == History.NEVER ? Long.MAX_VALUE : until;
        }

        private boolean keepsAnUnknownGrant(int section) {
            return Locks.maybeSticky(history.lock(section))
                    && history.entered(section) != History.NEVER
                    && history.token(section) == 0;
        }

        private long nextAsked(int index) {
            return index + 1 < byAsking.length ? history.asked(byAsking[index + 1]) : Long.MAX_VALUE;
        }

        boolean usedBefore(long time, long grant) {
            int first = countBelow(grant, Claims.this::grant, byToken);
            for (int i = first; i < byToken.length && grant(byToken[i]) == grant; i++) {
                if (history.asked(byToken[i]) < time) {
                    return true;
                }
            }
            return false;
        }

        boolean isThere(long time) {
            int before = countBelow(time, history::asked, byAsking);
            return before > 0 && latest[before - 1] >= time;
        }
    }

    /** How many of those that are sorted by a number are below one. */
    private static int countBelow(long bound, IntToLongFunction number, int[] sorted) {
        int low = 0;
        for (int high = sorted.length; low < high; ) {
            int middle = (low + high) >>> 1;
            if (number.applyAsLong(sorted[middle]) < bound) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
