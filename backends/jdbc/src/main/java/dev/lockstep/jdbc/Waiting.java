package dev.lockstep.jdbc;

import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the locks that this client's claims wait for: one look for each name at a time, however many claims wait for
 * it. Where the database pushes, a look is what is left for a push that was lost, and for holders that died. Safe for use
 * by many threads.
 */
final class Waiting {
    private static final Backoff POLLS = new Backoff(Duration.ofMillis(5), Duration.ofMillis(100));
    private static final Backoff LOOKS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(1));
    private static final long LEAST_NANOS = 5_000_000;

    /** After so many looks without a change, some seconds, the first claim arrives anew. */
    private static final int REFRESH_POLLS = 32;

    private static final int REFRESH_LOOKS = 4;

    private final JdbcBackend backend;
    private final Map<String, Watch> watches = new ConcurrentHashMap<>();

    Waiting(JdbcBackend backend) {
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

    /** A claim waits no more. */
    void remove(JdbcClaim claim) {
        watches.computeIfPresent(claim.ask().key(), (key, watch) -> watch.remove(claim) ? null : watch);
    }

    /** The push failed, or works again: looks come more often, or less. */
    void lookNow() {
        watches.values().forEach(Watch::lookNow);
    }

    /** This client has given a lock back: its own claims need not wait for the next look. */
    void released(String key) {
        Watch watch = watches.get(key);
        if (watch != null && !backend.isPushed()) {
            watch.lookNow();
        }
    }

    /** The claims of one name. */
    private final class Watch {
        private final String key;
        private final Set<JdbcClaim> claims = new LinkedHashSet<>(); // guarded by this
        private int looks; // guarded by this
        private @Nullable String lastOwner; // guarded by this
        private boolean looking; // guarded by this
        private Scheduler.@Nullable Timer timer; // guarded by this

        Watch(String key) {
            this.key = key;
        }

        synchronized void add(JdbcClaim claim) {
            if (claim.isWaiting() && claims.add(claim) && claims.size() == 1) {
                schedule(Long.MAX_VALUE);
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
            looks = 0;
            if (!looking) {
                schedule(0);
            }
        }

        private synchronized void schedule(long atMostNanos) {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
            if (!claims.isEmpty()) {
                Backoff pace = backend.isPushed() ? LOOKS : POLLS;
                long delay = Math.min(pace.delay(++looks).toNanos(), Math.max(atMostNanos, LEAST_NANOS));
                timer = backend.requests()
                        .later(delay, () -> backend.requests().run(Duration.ZERO, this::look, () -> {}));
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
            long sent = backend.requests().nanoTime();
            try {
                Store.Look seen = backend.requests().call(this::see).orElse(null);
                if (seen != null) {
                    atMost = seen.ownerMicrosLeft() == null ? atMost : seen.ownerMicrosLeft() * 1_000;
                    noteOwner(seen.owner());
                }
                boolean free = decide(waiting, seen);
                if (seen != null && seen.isHeld() && !free) {
                    backend.requests().noteContact(sent);
                }
            } catch (SQLException | RuntimeException e) {
                backend.log().debug("A look at a lock that is waited for failed; it is repeated", e);
            } finally {
                synchronized (this) {
                    looking = false;
                    schedule(atMost);
                }
            }
        }

        /** Makes those try again that could have the lock; false if none could. */
        private boolean decide(List<JdbcClaim> waiting, Store.@Nullable Look seen) {
            if (needsRefresh()) {
                // Tells holders once more that they are wanted, and queues again what somebody has removed.
                waiting.get(0).tryAgain();
            }
            boolean any = false;
            for (JdbcClaim claim : waiting) {
                if (seen == null || seen.mayTake(claim.ask())) {
                    claim.tryAgain();
                    any = true;
                    if (!claim.ask().shared()) {
                        break; // one writer at most can have it
                    }
                }
            }
            return any;
        }

        private synchronized boolean needsRefresh() {
            return looks > 0 && looks % (backend.isPushed() ? REFRESH_LOOKS : REFRESH_POLLS) == 0;
        }

        /** While a lock changes hands it is looked at more often. */
        private synchronized void noteOwner(@Nullable String owner) {
            if (!Objects.equals(owner, lastOwner)) {
                lastOwner = owner;
                looks = 0;
            }
        }

        /** Looks, and ends sessions in the way that have expired. */
        private Optional<Store.Look> see(Link link) throws SQLException {
            Optional<Store.Look> seen = backend.store().look(link, key);
            String dead = seen.map(Store.Look::dead).orElse(null);
            return dead != null && backend.store().evict(link, key, dead)
                    ? backend.store().look(link, key)
                    : seen;
        }
    }
}
