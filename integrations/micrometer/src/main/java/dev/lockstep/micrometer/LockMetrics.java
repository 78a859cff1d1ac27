package dev.lockstep.micrometer;

import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes a client's locks as meters of Micrometer. Give one to each client:
 *
 * <pre>{@code
 * LockClient.builder().url(url).observer(new LockMetrics(registry)).connect()
 * }</pre>
 *
 * <p>The meters are listed in docs/observability.md. Meters of locks have the tags {@code client}, {@code engine}, {@code mode}
 * and {@code group}; those of the engine have the first two. The name of a lock is never a tag; its group is one of at most
 * 100, and {@code other} from then on. Counts are exact: whenever no call, release or loss is under way, calls that acquired =
 * holds that were released, lost or not confirmed + {@code lockstep.lock.active}.
 *
 * <p>When the client is closed, its gauges are removed from the registry; counters and timers stay. Safe for use by many
 * threads. Each method that sets something returns a new instance.
 */
public final class LockMetrics implements LockObserver {
    static final String REQUEST = "lockstep.engine.request";
    static final String REACHABLE = "lockstep.engine.reachable";
    static final String RENEWAL_FAILURES = "lockstep.renewal.failures";
    static final String FALLBACK = "lockstep.fallback.active";

    private static final Logger log = LoggerFactory.getLogger(LockMetrics.class);

    /** How many names are remembered with their group; a power of two. A million names do not need more memory. */
    private static final int NAMES = 256;

    private final MeterRegistry registry;
    private final Clock clock;
    private final @Nullable String clientTag;
    private final LockGrouping grouping;
    private final Groups groups;
    private final Map<String, Group> meters = new ConcurrentHashMap<>();
    private final AtomicReferenceArray<Named> names = new AtomicReferenceArray<>(NAMES);
    private final Map<String, Requests> requests = new ConcurrentHashMap<>();
    private final List<Meter> gauges = new ArrayList<>(); // guarded by this
    private boolean open; // guarded by this
    private volatile boolean closed;
    private volatile Tags tags = Tags.of("client", "none", "engine", "none");
    private volatile @Nullable Counter renewalFailures;
    private volatile boolean unreachable;
    private volatile boolean inFallback;

    /**
     * Makes the metrics of one client.
     *
     * @param registry where its meters are registered
     */
    public LockMetrics(MeterRegistry registry) {
        this(registry, null, lockName -> null);
    }

    private LockMetrics(MeterRegistry registry, @Nullable String clientTag, LockGrouping grouping) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.clock = registry.config().clock();
        this.clientTag = clientTag;
        this.grouping = grouping;
        this.groups = new Groups(grouping);
    }

    /**
     * Sets the tag {@code client}. It should be the same after a restart, and no other client of the registry should have it.
     *
     * @param tag the client's name unless set, which is host and process id unless that was set
     * @return a copy with that tag
     */
    public LockMetrics client(String tag) {
        return new LockMetrics(registry, Objects.requireNonNull(tag, "tag"), grouping);
    }

    /**
     * Sets how locks are grouped whose options have no group.
     *
     * @param by chooses a group by the name; what comes before the first {@code :} unless set
     * @return a copy with that grouping
     */
    public LockMetrics groups(LockGrouping by) {
        return new LockMetrics(registry, clientTag, Objects.requireNonNull(by, "by"));
    }

    // ---------------------------------------------------------------- the client

    @Override
    public synchronized void clientOpening(ClientInfo client) {
        if (open) {
            throw new IllegalStateException("These metrics belong to another client: give each client its own.");
        }
        closed = false;
        unreachable = false;
        inFallback = false;
        forgetMeters(); // of calls that came after the client before had been closed
        tags = Tags.of("client", clientTag == null ? client.name() : clientTag, "engine", client.engine());
        renewalFailures = Counter.builder(RENEWAL_FAILURES)
                .description("Renewals that the engine did not confirm")
                .tags(tags)
                .register(registry);
    }

    @Override
    public synchronized void clientOpened(LockClient client) {
        open = true;
        if (LockMeters.isTaken(registry, REACHABLE, tags)) {
            log.warn(
                    "Another client of this registry has the same tags, {}: their counts are added up, and gauges show that client"
                            + " only. Give each client a name with clientName(…), or a tag with LockMetrics.client(…).",
                    tags);
            return;
        }
        gauges.add(Gauge.builder(REACHABLE, this, metrics -> metrics.unreachable ? 0 : 1)
                .description("0 while the engine does not answer although it is needed")
                .tags(tags)
                .register(registry));
        gauges.add(Gauge.builder(FALLBACK, this, metrics -> metrics.inFallback ? 1 : 0)
                .description("1 while locks are taken or held in fallback")
                .tags(tags)
                .register(registry));
    }

    @Override
    public synchronized void clientClosed(LockClient client) {
        open = false;
        closed = true;
        gauges.forEach(registry::remove);
        gauges.clear();
        meters.values().forEach(Group::close);
        forgetMeters();
    }

    /** A later client of these metrics has other tags, and gauges of its own. */
    private void forgetMeters() {
        meters.clear();
        requests.clear();
        for (int i = 0; i < NAMES; i++) {
            names.setRelease(i, null);
        }
    }

    @Override
    public void unreachable(LockListener.Unreachable event) {
        unreachable = true;
    }

    @Override
    public void reachable(LockListener.Reachable event) {
        unreachable = false;
    }

    @Override
    public void fallbackEntered(LockListener.FallbackEntered event) {
        inFallback = true;
    }

    @Override
    public void fallbackLeft(LockListener.FallbackLeft event) {
        inFallback = false;
    }

    @Override
    public void renewalFailed(RenewalFailure failure) {
        Counter counter = renewalFailures;
        if (counter != null) {
            counter.increment();
        }
    }

    @Override
    public void requestEnded(Request request) {
        Requests timers = requests.get(request.kind());
        if (timers == null) {
            timers = requests.computeIfAbsent(
                    request.kind(), kind -> new Requests(request(kind, "answered"), request(kind, "failed")));
        }
        (request.failure().isEmpty() ? timers.answered : timers.failed).record(request.duration());
    }

    private Timer request(String kind, String outcome) {
        return Timer.builder(REQUEST)
                .description("Requests to the engine; every try counts as one")
                .tags(tags)
                .tags("kind", kind, "outcome", outcome)
                .register(registry);
    }

    private record Requests(Timer answered, Timer failed) {}

    // ---------------------------------------------------------------- locks

    @Override
    public CallObserver callStarted(Call call) {
        return new ObservedCall(metersOf(call), clock);
    }

    @Override
    public void handedOff(LockListener.HandedOff event) {
        String group = groups.of(event.lockName(), event.options());
        group(group).of(event.mode()).handedOff();
    }

    private LockMeters metersOf(Call call) {
        String name = call.lockName();
        if (call.options().group().isPresent()) {
            return group(groups.of(name, call.options())).of(call.mode());
        }
        int hash = name.hashCode();
        int index = (hash ^ hash >>> 16) & (NAMES - 1);
        Named known = names.getAcquire(index);
        if (known == null || !known.name.equals(name)) {
            known = new Named(name, group(groups.of(name)));
            names.setRelease(index, known);
        }
        return known.group.of(call.mode());
    }

    private Group group(String group) {
        Group known = meters.get(group);
        return known != null ? known : meters.computeIfAbsent(group, Group::new);
    }

    /** A name that was used lately. */
    private record Named(String name, Group group) {}

    /** The meters of a group, by mode. */
    private final class Group {
        private final String name;
        private volatile @Nullable LockMeters exclusive;
        private volatile @Nullable LockMeters shared;

        Group(String name) {
            this.name = name;
        }

        LockMeters of(LockMode mode) {
            LockMeters known = mode == LockMode.EXCLUSIVE ? exclusive : shared;
            return known != null ? known : make(mode);
        }

        private synchronized LockMeters make(LockMode mode) {
            LockMeters known = mode == LockMode.EXCLUSIVE ? exclusive : shared;
            if (known == null) {
                known = new LockMeters(registry, tags, mode, name);
                if (mode == LockMode.EXCLUSIVE) {
                    exclusive = known;
                } else {
                    shared = known;
                }
                if (closed) {
                    known.close(); // a call on a closed client
                }
            }
            return known;
        }

        synchronized void close() {
            if (exclusive != null) {
                exclusive.close();
            }
            if (shared != null) {
                shared.close();
            }
        }
    }

    /** One call and its hold. Its methods are called one after the other. */
    private static final class ObservedCall implements CallObserver {
        private final LockMeters meters;
        private final Clock clock;
        private long sinceNanos;
        private boolean waiting;

        ObservedCall(LockMeters meters, Clock clock) {
            this.meters = meters;
            this.clock = clock;
            this.sinceNanos = clock.monotonicTime();
        }

        @Override
        public void waiting() {
            waiting = true;
            meters.waiting(true);
        }

        @Override
        public void callEnded(CallEnd end) {
            if (waiting) {
                meters.waiting(false);
            }
            if (end.outcome() != CallOutcome.REENTERED) { // no new hold, and nobody waited for anything
                long now = clock.monotonicTime();
                meters.callEnded(end.outcome(), now - sinceNanos);
                sinceNanos = now;
            }
        }

        @Override
        public void holdEnded(HoldEnd end) {
            HoldOutcome outcome = end.outcome();
            meters.holdEnded(outcome, clock.monotonicTime() - sinceNanos);
            if (outcome == HoldOutcome.LOST) {
                end.lossReason().ifPresent(meters::lost);
            }
        }
    }
}
