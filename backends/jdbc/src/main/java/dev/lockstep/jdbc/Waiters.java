package dev.lockstep.jdbc;

import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the locks that this client's claims wait for: one look for each name at a time, however many claims wait for
 * it. Where the database pushes, looks are only needed for a push that was lost, and for holders that died; elsewhere
 * {@link Pace} says how often. Safe for use by many threads.
 */
final class Waiters {
    private static final Backoff LOOKS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(1));
    private static final long LEAST_NANOS = 5_000_000;

    /** How often sessions are looked at, too; and when the one that blocks expires, as far as is known. */
    private static final long SESSIONS_NANOS = 500_000_000;

    /** If nothing has changed for so long, the first claim arrives again. */
    private static final long REFRESH_NANOS = 4_000_000_000L;

    private final JdbcBackend backend;
    private final Map<String, Watch> watches = new ConcurrentHashMap<>();

    Waiters(JdbcBackend backend) {
        this.backend = backend;
    }

    /** A claim waits at the database from now on, or still. */
    void add(JdbcClaim claim) {
        watches.compute(claim.ask().key(), (key, known) -> {
            Watch watch = known == null ? new Watch(key) : known;
            watch.add(claim);
            return watch;
        });
    }

    /** A claim no longer waits. */
    void remove(JdbcClaim claim) {
        watches.computeIfPresent(claim.ask().key(), (key, watch) -> watch.remove(claim) ? null : watch);
    }

    /** The push failed, or works again: looks come more often, or less. */
    void lookNow() {
        watches.values().forEach(Watch::lookNow);
    }

    /** This client has changed what a lock's other claims wait for: its own need not wait for the next look. */
    void changed(String key) {
        Watch watch = watches.get(key);
        if (watch != null && !backend.isPushed()) {
            watch.lookNow();
        }
    }

    /** The claims of one name. */
    private final class Watch {
        private final String key;
        private final Set<JdbcClaim> claims = new LinkedHashSet<>(); // guarded by this
        private final Pace pace; // guarded by this
        private long headTicket; // guarded by this
        private long refreshedNanos; // guarded by this
        private boolean looking; // guarded by this
        private boolean again; // something changed during a look, which may have missed it; guarded by this
        private Scheduler.@Nullable Timer timer; // guarded by this
        private long sessionsNanos; // when to look at sessions; used by the thread that looks

        Watch(String key) {
            this.key = key;
            long now = backend.requests().nanoTime();
            pace = new Pace(now);
            refreshedNanos = now;
            sessionsNanos = now + SESSIONS_NANOS; // they were looked at when the claim arrived
        }

        synchronized void add(JdbcClaim claim) {
            if (claim.isWaiting() && claims.add(claim) && claims.size() == 1) {
                schedule(claim.place().ahead(), Long.MAX_VALUE);
            }
        }

        /** True if it was the last. */
        synchronized boolean remove(JdbcClaim claim) {
            claims.remove(claim);
            if (claims.isEmpty() && timer != null) {
                timer.cancel();
                timer = null;
            }
            return claims.isEmpty();
        }

        synchronized void lookNow() {
            if (looking) {
                again = true;
            } else {
                lookIn(0);
            }
        }

        private synchronized void schedule(long ahead, long atMostNanos) {
            long rest = backend.isPushed()
                    ? LOOKS.delay(1).toNanos()
                    : pace.delayNanos(backend.requests().nanoTime(), ahead);
            lookIn(again ? 0 : Math.min(rest, Math.max(atMostNanos, LEAST_NANOS)));
            again = false;
        }

        private synchronized void lookIn(long nanos) {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
            if (!claims.isEmpty()) {
                timer = backend.requests()
                        .later(nanos, () -> backend.requests().run(Duration.ZERO, this::look, () -> {}));
            }
        }

        private void look() {
            List<JdbcClaim> waiting;
            synchronized (this) {
                if (looking || claims.isEmpty()) {
                    return;
                }
                looking = true;
                waiting = new ArrayList<>(claims);
            }
            long atMost = Long.MAX_VALUE;
            long ahead = 0;
            long sent = backend.requests().nanoTime();
            try {
                boolean sessions = backend.isPushed() || sent - sessionsNanos >= 0;
                Look seen = backend.requests()
                        .call(link -> sessions ? see(link) : backend.store().glance(link, key))
                        .orElse(null);
                Long left = seen == null ? null : seen.ownerMicrosLeft();
                atMost = left == null ? atMost : left * 1_000;
                if (sessions) {
                    sessionsNanos = sent + Math.min(Math.max(atMost, LEAST_NANOS), SESSIONS_NANOS);
                }
                ahead = note(seen, waiting);
                boolean free = decide(waiting, seen);
                if (seen != null && seen.isHeld() && !free) {
                    backend.requests().noteContact(sent);
                }
            } catch (SQLException | RuntimeException e) {
                backend.log().debug("Checking a lock for its waiters failed; it is repeated", e);
            } finally {
                synchronized (this) {
                    looking = false;
                    schedule(ahead, ahead == 0 || backend.isPushed() ? atMost : Long.MAX_VALUE);
                }
            }
        }

        /**
         * Makes the claims try again that could have the lock, or are no longer in the queue; false if there are none.
         */
        private boolean decide(List<JdbcClaim> waiting, @Nullable Look seen) {
            if (needsRefresh()) {
                // Notifies holders again that they are wanted, and queues again claims that were removed.
                waiting.get(0).tryAgain();
            }
            boolean any = false;
            for (JdbcClaim claim : waiting) {
                if (seen == null || seen.mayTake(claim.ask()) || isGone(claim, seen)) {
                    claim.tryAgain();
                    any = true;
                    if (!claim.ask().shared()) {
                        break; // one writer at most can have it
                    }
                }
            }
            return any;
        }

        /** Whether a claim is certainly not in the queue any more: it is before the head, or another kind of queue. */
        private static boolean isGone(JdbcClaim claim, Look seen) {
            long ticket = claim.place().ticket();
            return seen.refuses(claim.ask()) || ticket > 0 && (seen.head() == null || seen.headTicket() > ticket);
        }

        private synchronized boolean needsRefresh() {
            long now = backend.requests().nanoTime();
            boolean due = now - refreshedNanos >= REFRESH_NANOS && pace.unchangedNanos(now) >= REFRESH_NANOS;
            refreshedNanos = due ? now : refreshedNanos;
            return due;
        }

        /** Records the result of a look, and returns how many may be before the first of this client's claims. */
        private synchronized long note(@Nullable Look seen, List<JdbcClaim> waiting) {
            if (seen == null) {
                return 0;
            }
            String holders = seen.owner() != null ? seen.owner() : Integer.toString(seen.readers());
            pace.seen(backend.requests().nanoTime(), holders, seen.head(), seen.headTicket());
            headTicket = Math.max(headTicket, seen.headTicket());
            long first = Long.MAX_VALUE;
            for (JdbcClaim claim : waiting) {
                boolean entersWithHead = seen.headShared() && claim.ask().shared() && seen.limit() == 0;
                long ticket = claim.place().ticket();
                first = Math.min(first, entersWithHead ? Math.min(ticket, headTicket + 1) : ticket);
            }
            return Math.max(first - headTicket, 0);
        }

        /** Looks, and ends sessions in the way that have expired. */
        private Optional<Look> see(Link link) throws SQLException {
            Optional<Look> seen = backend.store().look(link, key);
            String dead = seen.map(Look::dead).orElse(null);
            return dead != null && backend.store().evict(link, key, dead)
                    ? backend.store().look(link, key)
                    : seen;
        }
    }
}
