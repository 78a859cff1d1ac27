package dev.lockstep;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * An engine's knowledge about one lock at one moment, for operators. It may be out of date by the time it is read.
 *
 * <p>Threads of one process share one entry, unless the lock is fair.
 *
 * <p>Immutable. Backends make it; later versions may add to it.
 */
public final class LockInfo {
    private final String name;
    private final List<Entry> holders;
    private final List<Entry> waiters;
    private final OptionalInt limit;

    private LockInfo(String name, List<Entry> holders, List<Entry> waiters, OptionalInt limit) {
        this.name = Objects.requireNonNull(name, "name");
        this.holders = List.copyOf(holders);
        this.waiters = List.copyOf(waiters);
        this.limit = limit;
    }

    /**
     * Makes one, for backends.
     *
     * @param name the lock's name
     * @param holders see {@link #holders()}
     * @param waiters see {@link #waiters()}
     * @return an immutable copy
     */
    public static LockInfo of(String name, List<Entry> holders, List<Entry> waiters) {
        return new LockInfo(name, holders, waiters, OptionalInt.empty());
    }

    /**
     * Makes the info of a lock that is not in use, for backends.
     *
     * @param name the lock's name
     * @return the info, without holders and waiters
     */
    public static LockInfo free(String name) {
        return of(name, List.of(), List.of());
    }

    /**
     * Makes the info of a semaphore, for backends.
     *
     * @param limit see {@link #limit()}
     * @return a copy
     */
    public LockInfo withLimit(int limit) {
        return new LockInfo(name, holders, waiters, OptionalInt.of(limit));
    }

    /**
     * Makes one with other holders, for backends.
     *
     * @param others see {@link #holders()}
     * @return a copy
     */
    public LockInfo withHolders(List<Entry> others) {
        return new LockInfo(name, others, waiters, limit);
    }

    /**
     * Returns how many permits a semaphore has.
     *
     * @return the number; empty if this is a lock, or nobody uses the name
     */
    public OptionalInt limit() {
        return limit;
    }

    /**
     * Names the lock.
     *
     * @return the lock's name
     */
    public String name() {
        return name;
    }

    /**
     * Shows who holds the lock.
     *
     * @return none, one exclusive holder, or shared ones; of a semaphore, all that have permits, as shared holders
     */
    public List<Entry> holders() {
        return holders;
    }

    /**
     * Shows who waits for the lock in the engine.
     *
     * @return the waiters, in the order in which they will be served where the engine keeps one
     */
    public List<Entry> waiters() {
        return waiters;
    }

    /**
     * Returns whether nobody holds the lock.
     *
     * @return true if there is no holder
     */
    public boolean isFree() {
        return holders.isEmpty();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockInfo that
                && name.equals(that.name)
                && holders.equals(that.holders)
                && waiters.equals(that.waiters)
                && limit.equals(that.limit);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, holders, waiters, limit);
    }

    @Override
    public String toString() {
        String permits = limit.isPresent() ? ", limit=" + limit.getAsInt() : "";
        return "LockInfo[name=" + name + permits + ", holders=" + holders + ", waiters=" + waiters + "]";
    }

    /** One holder or waiter. Immutable. Backends make it; later versions may add to it. */
    public static final class Entry {
        private final EntryFacts facts;

        private Entry(EntryFacts facts) {
            this.facts = facts;
        }

        /**
         * Makes one without token and remaining time, for backends.
         *
         * @param mode see {@link #mode()}
         * @param holder see {@link #holder()}
         * @return the entry
         */
        public static Entry of(LockMode mode, HolderInfo holder) {
            return new Entry(EntryFacts.of(mode, holder));
        }

        /**
         * Makes one with a token, for backends.
         *
         * @param token see {@link #token()}
         * @return a copy
         */
        public Entry withToken(long token) {
            return new Entry(facts.withToken(token));
        }

        /**
         * Makes one with several permits of a semaphore, for backends.
         *
         * @param permits see {@link #permits()}
         * @return a copy
         */
        public Entry withPermits(int permits) {
            return new Entry(facts.withPermits(permits));
        }

        /**
         * Makes one with a remaining time, for backends.
         *
         * @param remaining see {@link #remaining()}; a negative time counts as zero
         * @return a copy
         */
        public Entry withRemaining(Duration remaining) {
            return new Entry(facts.withRemaining(remaining.isNegative() ? Duration.ZERO : remaining));
        }

        /**
         * Makes one with a claim, for backends.
         *
         * @param claim see {@link #claim()}
         * @return a copy
         */
        public Entry withClaim(String claim) {
            return new Entry(facts.withClaim(claim));
        }

        /**
         * Makes one with the time of its grant, for backends.
         *
         * @param granted see {@link #granted()}
         * @return a copy
         */
        public Entry withGranted(Instant granted) {
            return new Entry(facts.withGranted(granted));
        }

        /**
         * Makes one whose holder waits for another lock, for backends.
         *
         * @param wait see {@link #waitsFor()}
         * @return a copy
         */
        public Entry withWait(Wait wait) {
            return new Entry(facts.withWait(wait));
        }

        /**
         * Identifies the claim, over all clients and for all time: the id of its client, a dot and more.
         *
         * @return the claim's id; empty if the engine does not know it
         */
        public Optional<String> claim() {
            return facts.claim();
        }

        /**
         * Shows which other lock the holder waits for. A holder records that in the engine only after it has waited for
         * some time, so it is empty for shorter waits. The record is removed when the wait ends; if the holder cannot
         * reach the engine then, the record is outdated until the grant ends.
         *
         * @return what it waits for; empty for a waiter, and for a holder that waits for nothing
         */
        public Optional<Wait> waitsFor() {
            return facts.waitsFor();
        }

        /**
         * Returns how many permits of a semaphore it has or asks for.
         *
         * @return the number; 1 for a lock
         */
        public int permits() {
            return facts.permits();
        }

        /**
         * Returns how the lock is held or wanted.
         *
         * @return what it holds or asks for
         */
        public LockMode mode() {
            return facts.mode();
        }

        /**
         * Identifies the grant of a holder, see {@link LockClient#forceRelease(String, long)}.
         *
         * @return for a holder, a token that is not above any {@link Lease#token()} of this grant, and above all tokens
         *     of earlier exclusive grants; empty for a waiter, and for a holder at a fallback
         */
        public OptionalLong token() {
            return facts.token();
        }

        /**
         * Identifies the client, its host and its process.
         *
         * @return the holder or waiter
         */
        public HolderInfo holder() {
            return facts.holder();
        }

        /**
         * Identifies the client and the thread that made the claim.
         *
         * @return the owner; see there for what it says after a hand-off
         */
        public LockOwner owner() {
            return LockOwner.of(facts.claim(), facts.holder());
        }

        /**
         * Says when the claim was made. It stays the same when the grant is handed off to another thread of its client.
         * On SQL it is not the time of the request for an exclusive holder: the database stores the time of the grant
         * instead, which is later for a holder that waited.
         *
         * @return the time by the clock of the client's machine, or of the database on SQL; empty if the engine does not know
         *     it
         */
        public Optional<Instant> requested() {
            Instant since = facts.holder().since();
            return since.equals(Instant.EPOCH) ? Optional.empty() : Optional.of(since);
        }

        /**
         * Says when the engine granted the lock to the claim. It stays the same when the grant is handed off.
         *
         * @return the time by the engine's clock, later than the true time if that clock was set back; empty for a waiter,
         *     and on engines that do not keep it, which are ZooKeeper and etcd
         */
        public Optional<Instant> granted() {
            return facts.granted();
        }

        /**
         * Returns how long the engine would keep the lock if the holder's client made no further contact. A live
         * client renews in time, so for its locks this stays near the ttl; it falls to zero if the client has died or
         * lost contact.
         *
         * @return the time by the engine's clock; empty for a waiter, and on ZooKeeper, which does not report it
         */
        public Optional<Duration> remaining() {
            return facts.remaining();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Entry that && facts.equals(that.facts);
        }

        @Override
        public int hashCode() {
            return facts.hashCode();
        }

        @Override
        public String toString() {
            return facts.toString();
        }
    }

    /**
     * Records that a thread which holds a lock waits for another one. Immutable. Backends read and write it; later
     * versions may add to it.
     */
    public static final class Wait {
        private final WaitFacts facts;

        private Wait(WaitFacts facts) {
            this.facts = facts;
        }

        /**
         * Makes one.
         *
         * @param lock see {@link #lock()}
         * @param mode see {@link #mode()}
         * @param thread see {@link #thread()}
         * @param since see {@link #since()}
         * @param bounded see {@link #isBounded()}
         * @return the wait
         */
        public static Wait of(String lock, LockMode mode, String thread, Instant since, boolean bounded) {
            return new Wait(new WaitFacts(lock, mode, thread, since, bounded));
        }

        /** {@return the name of the lock that is waited for, in the same namespace} */
        public String lock() {
            return facts.lock();
        }

        /** {@return the mode in which the lock is wanted} */
        public LockMode mode() {
            return facts.mode();
        }

        /** {@return the name and id of the thread that holds one lock and waits for the other} */
        public String thread() {
            return facts.thread();
        }

        /** {@return when the wait began, by the clock of the waiting process} */
        public Instant since() {
            return facts.since();
        }

        /** {@return whether the waiting call has a deadline of its own} */
        public boolean isBounded() {
            return facts.bounded();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Wait that && facts.equals(that.facts);
        }

        @Override
        public int hashCode() {
            return facts.hashCode();
        }

        @Override
        public String toString() {
            return facts.toString();
        }
    }
}
