package dev.lockstep;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What an engine knows of one lock at one moment, for operators. It may be out of date by the time it is read.
 *
 * <p>Threads of one process share one entry, unless the lock is fair.
 *
 * <p>Immutable. Backends make it; later versions may add to it.
 */
public final class LockInfo {
    private final String name;
    private final List<Entry> holders;
    private final List<Entry> waiters;

    private LockInfo(String name, List<Entry> holders, List<Entry> waiters) {
        this.name = Objects.requireNonNull(name, "name");
        this.holders = List.copyOf(holders);
        this.waiters = List.copyOf(waiters);
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
        return new LockInfo(name, holders, waiters);
    }

    /**
     * Makes that of a lock that nobody uses, for backends.
     *
     * @param name the lock's name
     * @return it, without holders and waiters
     */
    public static LockInfo free(String name) {
        return of(name, List.of(), List.of());
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
     * @return none, one exclusive holder, or shared ones
     */
    public List<Entry> holders() {
        return holders;
    }

    /**
     * Shows who waits for the lock at the engine.
     *
     * @return the waiters, in the order in which they will be served where the engine keeps one
     */
    public List<Entry> waiters() {
        return waiters;
    }

    /**
     * Tells whether nobody holds the lock.
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
                && waiters.equals(that.waiters);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, holders, waiters);
    }

    @Override
    public String toString() {
        return "LockInfo[name=" + name + ", holders=" + holders + ", waiters=" + waiters + "]";
    }

    /** One holder or waiter. Immutable. Backends make it; later versions may add to it. */
    public static final class Entry {
        private final LockMode mode;
        private final HolderInfo holder;
        private final OptionalLong token;
        private final Optional<Duration> remaining;

        private Entry(LockMode mode, HolderInfo holder, OptionalLong token, Optional<Duration> remaining) {
            this.mode = Objects.requireNonNull(mode, "mode");
            this.holder = Objects.requireNonNull(holder, "holder");
            this.token = token;
            this.remaining = remaining;
        }

        /**
         * Makes one without token and remaining time, for backends.
         *
         * @param mode see {@link #mode()}
         * @param holder see {@link #holder()}
         * @return the entry
         */
        public static Entry of(LockMode mode, HolderInfo holder) {
            return new Entry(mode, holder, OptionalLong.empty(), Optional.empty());
        }

        /**
         * Makes one with a token, for backends.
         *
         * @param token see {@link #token()}
         * @return a copy
         */
        public Entry withToken(long token) {
            return new Entry(mode, holder, OptionalLong.of(token), remaining);
        }

        /**
         * Makes one with a remaining time, for backends.
         *
         * @param remaining see {@link #remaining()}; a negative time counts as zero
         * @return a copy
         */
        public Entry withRemaining(Duration remaining) {
            return new Entry(mode, holder, token, Optional.of(remaining.isNegative() ? Duration.ZERO : remaining));
        }

        /**
         * Tells how the lock is held or wanted.
         *
         * @return what it holds or asks for
         */
        public LockMode mode() {
            return mode;
        }

        /**
         * Identifies the grant of a holder, see {@link LockClient#forceRelease(String, long)}.
         *
         * @return for a holder, a token not above any that {@link Lease#token()} gives under this grant, and above all of
         *     earlier exclusive grants; empty for a waiter, and for a holder at a fallback
         */
        public OptionalLong token() {
            return token;
        }

        /**
         * Tells who it is.
         *
         * @return the holder or waiter
         */
        public HolderInfo holder() {
            return holder;
        }

        /**
         * Tells how long the engine would let a holder have the lock if nothing more was heard of its client. A client that
         * lives renews in time, so for its locks this stays near the ttl; it falls to zero if the client has died or lost
         * contact.
         *
         * @return the time by the engine's clock; empty for a waiter, and on engines that do not tell it, which is ZooKeeper
         */
        public Optional<Duration> remaining() {
            return remaining;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Entry that
                    && mode == that.mode
                    && holder.equals(that.holder)
                    && token.equals(that.token)
                    && remaining.equals(that.remaining);
        }

        @Override
        public int hashCode() {
            return Objects.hash(mode, holder, token, remaining);
        }

        @Override
        public String toString() {
            return "Entry[mode=" + mode + ", token=" + token + ", remaining=" + remaining + ", holder=" + holder + "]";
        }
    }
}
