package dev.lockstep.console;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockAdmin;
import dev.lockstep.LockClient;
import dev.lockstep.LockPage;
import dev.lockstep.console.Blockers.Blocker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Overview. One thread looks at the engine, however many browsers are open; they read the last sample. The cost of a
 * look is bounded:
 *   - looks begin at least one interval apart, which is a second or more;
 *   - after a look the engine is left alone for 19 times as long as a listing takes, so it works for the console 5 % of the time at
 *     most. A listing takes as long as the shortest of the last three: what is beyond that is the network's or this machine's time;
 *   - a look lists at most MOST_LOCKS locks of MOST_NAMESPACES namespaces, in pages of PAGE;
 *   - while nobody watches, it looks every 15 seconds, for the history.
 * If the engine answers a ping but not the rest of a look, it may have worked all that time: it is left alone for 19 times as long, a
 * minute at most. One that does not even answer a ping is not working for us, and is asked again after an interval.
 */
/** Looks at the engine again and again, and keeps the last sample. Thread-safe. */
final class Poller implements AutoCloseable {
    static final int PAGE = 500;
    static final int MOST_LOCKS = 50_000;
    static final int REST_FACTOR = 19;
    private static final int MEASURED = 3;
    static final int MOST_NAMESPACES = 100;
    private static final Duration IDLE_PAUSE = Duration.ofSeconds(15);
    private static final Duration WATCHED = Duration.ofSeconds(30);
    private static final Duration DESCRIBE_EVERY = Duration.ofMinutes(1);
    private static final Duration LONGEST_FAILED_PAUSE = Duration.ofMinutes(1);
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final LockClient client;
    private final @Nullable String namespace;
    private final Duration interval;
    private final History history = new History();
    private final Heat heat = new Heat();
    private final Changes changes = new Changes();
    private final ScheduledExecutorService thread;

    // Of the thread alone.
    private @Nullable EngineInfo info;
    private long describedNanos;
    private Set<String> cycles = Set.of();
    private final Deque<Duration> listings = new ArrayDeque<>();

    // Guarded by this.
    private Sample sample = Sample.EMPTY;
    private long watchedNanos = System.nanoTime();
    private long mayLookNanos = System.nanoTime();
    private boolean closed;
    private @Nullable ScheduledFuture<?> next;

    /**
     * Makes one that does nothing yet.
     *
     * @param namespace the namespace to look at; null for all
     */
    Poller(LockClient client, @Nullable String namespace, Duration interval) {
        this.client = client;
        this.namespace = namespace;
        this.interval = interval;
        thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, "lockstep-console");
            made.setDaemon(true);
            return made;
        });
    }

    synchronized void start() {
        schedule(Duration.ZERO);
    }

    History history() {
        return history;
    }

    Heat heat() {
        return heat;
    }

    Changes changes() {
        return changes;
    }

    /** The last sample, for a browser that watches. Waits for the first sample, for a few seconds at most. */
    synchronized Sample watch() {
        long now = System.nanoTime();
        boolean wasIdle = now - watchedNanos > WATCHED.toNanos();
        watchedNanos = now;
        if (wasIdle) {
            lookSoon();
        }
        return sample.version() == 0 ? await(0, Duration.ofSeconds(3)) : sample;
    }

    /** Waits for a sample that follows a version; returns the last one when the time is over or this is closed. */
    synchronized Sample await(long version, Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        watchedNanos = System.nanoTime();
        try {
            while (sample.version() <= version && !closed) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0) {
                    break;
                }
                wait(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        watchedNanos = System.nanoTime();
        return sample;
    }

    /** Looks as soon as the interval allows. */
    synchronized void lookSoon() {
        schedule(Duration.ofNanos(Math.max(0, mayLookNanos - System.nanoTime())));
    }

    synchronized boolean isClosed() {
        return closed;
    }

    private synchronized void schedule(Duration delay) {
        if (closed) {
            return;
        }
        if (next != null) {
            next.cancel(false);
        }
        next = thread.schedule(this::look, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void look() {
        try {
            Sample before = current();
            Sample found = sampleNow(before);
            history.add(found);
            if (found.engine().isReachable()) {
                heat.add(found);
                changes.add(found);
            }
            synchronized (this) {
                sample = found;
                notifyAll();
            }
            schedule(found.cost().pause());
        } catch (RuntimeException | Error e) {
            LOG.warn("the console cannot look at the engine; it tries again", e);
            schedule(IDLE_PAUSE);
        }
    }

    private synchronized Sample current() {
        return sample;
    }

    private Sample sampleNow(Sample before) {
        long start = System.nanoTime();
        long pinged = start;
        Instant at = Instant.now();
        Optional<Duration> ping = Optional.empty();
        try {
            ping = Optional.of(client.ping());
            pinged = System.nanoTime();
            describe(start);
            long asked = System.nanoTime();
            Listing listing = list();
            Duration took = usual(Duration.ofNanos(System.nanoTime() - asked));
            List<Blocker> blockers = Blockers.of(listing.locks, at);
            Set<String> seen = new HashSet<>();
            blockers.stream().filter(Blocker::isCycle).map(Blocker::signature).forEach(seen::add);
            Set<String> confirmed = new HashSet<>(seen);
            confirmed.retainAll(cycles);
            cycles = seen;
            boolean newCycle = confirmed.size() < seen.size();
            return new Sample(
                    before.version() + 1,
                    at,
                    new Sample.Engine(info, ping, null, at, client.inFallback()),
                    new Sample.Cost(took, listing.pages, listing.truncated, pause(took, newCycle)),
                    listing.namespaces,
                    listing.locks,
                    blockers,
                    confirmed);
        } catch (RuntimeException e) {
            LOG.debug("the engine did not answer the console", e);
            cycles = Set.of();
            String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            long now = System.nanoTime();
            return new Sample(
                    before.version() + 1,
                    at,
                    new Sample.Engine(info, ping, message, before.engine().answered(), client.inFallback()),
                    new Sample.Cost(
                            Duration.ofNanos(now - start),
                            0,
                            before.cost().truncated(),
                            ping.isPresent() ? pauseAfterFailure(Duration.ofNanos(now - pinged)) : interval),
                    before.namespaces(),
                    before.locks(),
                    before.blockers(),
                    before.confirmed());
        }
    }

    /** How long a listing takes, with one more measured. */
    private Duration usual(Duration listing) {
        listings.addLast(listing);
        if (listings.size() > MEASURED) {
            listings.removeFirst();
        }
        return Collections.min(listings);
    }

    private Duration pause(Duration took, boolean newCycle) {
        boolean first = listings.size() == 1; // in which much is loaded and connected
        Duration rest = first ? Duration.ZERO : took.multipliedBy(REST_FACTOR);
        Duration toNext = interval.minus(took);
        Duration least = rest.compareTo(toNext) > 0 ? rest : toNext;
        synchronized (this) {
            mayLookNanos = System.nanoTime() + least.toNanos();
            boolean watched = System.nanoTime() - watchedNanos < WATCHED.toNanos();
            // A cycle is looked at again soon, to know whether it is a deadlock.
            return watched || newCycle || least.compareTo(IDLE_PAUSE) > 0 ? least : IDLE_PAUSE;
        }
    }

    private synchronized Duration pauseAfterFailure(Duration worked) {
        Duration rest = worked.multipliedBy(REST_FACTOR);
        Duration atMost = rest.compareTo(LONGEST_FAILED_PAUSE) > 0 ? LONGEST_FAILED_PAUSE : rest;
        Duration pause = atMost.compareTo(interval) > 0 ? atMost : interval;
        mayLookNanos = System.nanoTime() + pause.toNanos();
        return pause;
    }

    private void describe(long now) {
        if (info == null || now - describedNanos > DESCRIBE_EVERY.toNanos()) {
            info = client.describe();
            describedNanos = now;
        }
    }

    private Listing list() {
        Listing listing = new Listing();
        if (namespace != null) {
            listing.namespaces.add(namespace);
        } else {
            Set<String> all = new TreeSet<>(client.namespaces());
            all.stream().limit(MOST_NAMESPACES).forEach(listing.namespaces::add);
            listing.truncated = all.size() > MOST_NAMESPACES;
        }
        for (String each : listing.namespaces) {
            listing.add(each, client.admin(each));
        }
        listing.locks.sort(Comparator.comparing(Located::namespace)
                .thenComparing(lock -> lock.info().name()));
        return listing;
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        thread.shutdownNow();
    }

    /** The locks of some namespaces, page by page. */
    private static final class Listing {
        final List<String> namespaces = new ArrayList<>();
        final List<Located> locks = new ArrayList<>();
        int pages;
        boolean truncated;

        void add(String namespace, LockAdmin admin) {
            Map<String, Located> found = new LinkedHashMap<>(); // a lock may be on several pages
            String cursor = "";
            do {
                if (locks.size() + found.size() >= MOST_LOCKS) {
                    truncated = true;
                    break;
                }
                LockPage page = admin.list("", cursor, PAGE);
                page.locks().forEach(lock -> found.put(lock.name(), new Located(namespace, lock)));
                pages++;
                cursor = page.next().orElse("");
            } while (!cursor.isEmpty());
            locks.addAll(found.values());
        }
    }
}
