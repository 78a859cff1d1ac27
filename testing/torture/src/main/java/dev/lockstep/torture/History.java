package dev.lockstep.torture;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/*
 * Overview. A row is one section: one call for one lock, and what was done inside it. Its times are stamps of the observer,
 * which alone has a clock, taken when a message of the worker arrived. A stamp proves:
 *
 *   asked     the call began later: the worker calls when it has the answer
 *   queued    the engine had the claim before: the worker saw it there with its own eyes
 *   entered   the lock had been granted before
 *   certain   the lease was valid at this time or later: the worker looked at it after it had the answer to this message
 *   ended     the lease had ended before, while the worker was inside, though no bound of its own was set to it
 *   exited    the worker was inside until this time at least, which is that of certain if its lease was valid to the end; for a call that got nothing, it had given up before
 *
 * So from entered to certain the lease was valid, whatever the clock of the worker or a pause between look and message did,
 * and what the checker says about two such intervals is a proof and not a guess.
 */
/** The events of a run: sections in columns, 64 bytes each, and the faults meanwhile. Not thread-safe. */
final class History {
    /** The stamp of what did not happen. */
    static final long NEVER = 0;

    private static final int SHARED = 1;
    private static final int FAIR = 2;
    private static final int PERMITS_SHIFT = 2;
    private static final int LIMIT_SHIFT = 5;
    private static final int MOST_PERMITS = 7;
    private static final int FLAG_BITS = 8;
    private static final int LOCK_BITS = 24;

    private final Column meta = new Column();
    private final Column asked = new Column();
    private final Column queued = new Column();
    private final Column entered = new Column();
    private final Column certain = new Column();
    private final Column ended = new Column();
    private final Column exited = new Column();
    private final Column token = new Column();
    private final List<FaultWindow> faults = new ArrayList<>();

    /** Adds a section; gives its number. */
    int ask(int client, int lock, boolean shared, boolean fair, long at) {
        return add(client, lock, (shared ? SHARED : 0) | (fair ? FAIR : 0), at);
    }

    /** Adds a section of a semaphore with so many permits at most; gives its number. */
    int askPermits(int client, int semaphore, int permits, int limit, long at) {
        if (permits > limit || limit > MOST_PERMITS) {
            throw new IllegalArgumentException(permits + " of " + limit + " permits");
        }
        return add(client, semaphore, SHARED | permits << PERMITS_SHIFT | limit << LIMIT_SHIFT, at);
    }

    private int add(int client, int lock, long flags, long at) {
        meta.add(((long) client << (LOCK_BITS + FLAG_BITS)) | ((long) lock << FLAG_BITS) | flags);
        asked.add(at);
        queued.add(NEVER);
        entered.add(NEVER);
        certain.add(NEVER);
        ended.add(NEVER);
        exited.add(NEVER);
        token.add(0);
        return meta.size() - 1;
    }

    void queued(int section, long at) {
        queued.set(section, at);
    }

    void entered(int section, long at, long itsToken) {
        entered.set(section, at);
        token.set(section, itsToken);
    }

    void certain(int section, long at) {
        certain.set(section, at);
    }

    void ended(int section, long at) {
        ended.set(section, at);
    }

    void exited(int section, long at) {
        exited.set(section, at);
    }

    void add(FaultWindow fault) {
        faults.add(fault);
    }

    int size() {
        return meta.size();
    }

    int client(int section) {
        return (int) (meta.get(section) >> (LOCK_BITS + FLAG_BITS));
    }

    int lock(int section) {
        return (int) (meta.get(section) >> FLAG_BITS) & ((1 << LOCK_BITS) - 1);
    }

    boolean isShared(int section) {
        return (meta.get(section) & SHARED) != 0;
    }

    boolean isFair(int section) {
        return (meta.get(section) & FAIR) != 0;
    }

    /** How many permits a section has or asked for; 0 if it is none of a semaphore. */
    int permits(int section) {
        return (int) (meta.get(section) >> PERMITS_SHIFT) & MOST_PERMITS;
    }

    /** How many permits the semaphore of a section has; 0 if it is none of a semaphore. */
    int limit(int section) {
        return (int) (meta.get(section) >> LIMIT_SHIFT) & MOST_PERMITS;
    }

    long asked(int section) {
        return asked.get(section);
    }

    long queued(int section) {
        return queued.get(section);
    }

    long entered(int section) {
        return entered.get(section);
    }

    long certain(int section) {
        return certain.get(section);
    }

    long ended(int section) {
        return ended.get(section);
    }

    long exited(int section) {
        return exited.get(section);
    }

    /** The section's token; 0 if it has none. */
    long token(int section) {
        return token.get(section);
    }

    boolean wasEntered(int section) {
        return entered.get(section) != NEVER;
    }

    /** How many sections were entered. */
    long enteredCount() {
        return IntStream.range(0, size()).filter(this::wasEntered).count();
    }

    /** How many sections of one lock, election or semaphore were entered. */
    long enteredCount(int lock) {
        return IntStream.range(0, size())
                .filter(section -> lock(section) == lock && wasEntered(section))
                .count();
    }

    /** Whether the section asked for a fair lock. */
    boolean hasFair() {
        return IntStream.range(0, size()).anyMatch(this::isFair);
    }

    /** Whether a section certainly waited for a fair lock, and certainly got it. */
    boolean isOrderWitness(int section) {
        return isFair(section) && queued(section) != NEVER && isCertain(section);
    }

    /** Whether the lease was valid for a time that the observer can prove. */
    boolean isCertain(int section) {
        return certain.get(section) != NEVER;
    }

    List<FaultWindow> faults() {
        return Collections.unmodifiableList(faults);
    }
}
