package dev.lockstep.micrometer;

import dev.lockstep.LockObserver;
import dev.lockstep.LockTemplate;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Observes locks with Micrometer's Observation API, from which traces are made:
 *
 * <ul>
 *   <li>{@code lockstep.locked}: acquiring a lock, the work under it, and releasing it; of a template that was given to {@link
 *       #observe}, and of {@code @Locked}. Observations of the work are inside of it, even across threads. Its events
 *       are {@code waiting}, {@code granted} and {@code lost}.
 *   <li>{@code lockstep.wait}: inside of it, the wait for a lock that is held elsewhere; it names the holder.
 *   <li>{@code lockstep.acquire}: other calls for locks, after {@link #aroundAcquire()}.
 * </ul>
 *
 * <p>One serves all clients; each client gets an observer of its own:
 *
 * <pre>{@code
 * LockObservations observations = new LockObservations(registry);
 * LockClient locks = LockClient.builder().url(url).observer(observations.observer()).connect();
 * LockTemplate template = observations.observe(locks.template());
 * }</pre>
 *
 * <p>Immutable, safe for use by many threads. Each method that sets something returns a new instance.
 */
public final class LockObservations {
    static final String LOCKED = "lockstep.locked";
    static final String WAIT = "lockstep.wait";
    static final String ACQUIRE = "lockstep.acquire";
    static final String NONE = "none";

    private final ObservationRegistry registry;
    private final LockGrouping grouping;
    private final boolean aroundAcquire;
    private final boolean namesHolders;

    /**
     * Makes one.
     *
     * @param registry where observations go
     */
    public LockObservations(ObservationRegistry registry) {
        this(registry, lockName -> null, false, true);
    }

    private LockObservations(
            ObservationRegistry registry, LockGrouping grouping, boolean aroundAcquire, boolean namesHolders) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.grouping = grouping;
        this.aroundAcquire = aroundAcquire;
        this.namesHolders = namesHolders;
    }

    /**
     * Sets how locks are grouped whose options have no group.
     *
     * @param by chooses a group by the name; what comes before the first {@code :} unless set
     * @return a copy with that grouping
     */
    public LockObservations groups(LockGrouping by) {
        return new LockObservations(registry, Objects.requireNonNull(by, "by"), aroundAcquire, namesHolders);
    }

    /**
     * Observes calls for locks outside of templates and {@code @Locked}, too, from their start to their end.
     *
     * @return a copy that does so
     */
    public LockObservations aroundAcquire() {
        return new LockObservations(registry, grouping, true, namesHolders);
    }

    /**
     * Does not ask the engine who holds a lock that is waited for. For observations of which no traces are made.
     *
     * @return a copy whose waits do not name the holder
     */
    public LockObservations withoutHolders() {
        return new LockObservations(registry, grouping, aroundAcquire, false);
    }

    /**
     * Makes the observer of one client.
     *
     * @return to be given to the client's builder
     */
    public LockObserver observer() {
        return new ClientObservations(registry, new Groups(grouping), aroundAcquire, namesHolders, null);
    }

    /**
     * Makes the observer of one client.
     *
     * @param clientTag the value of the key {@code client}; the client's name with {@link #observer()}
     * @return to be given to the client's builder
     */
    public LockObserver observer(String clientTag) {
        return new ClientObservations(
                registry,
                new Groups(grouping),
                aroundAcquire,
                namesHolders,
                Objects.requireNonNull(clientTag, "clientTag"));
    }

    /**
     * Observes what a template does.
     *
     * @param template a template of a client that has an {@link #observer()}; without one, events and the wait are missing
     * @return the same template, observed
     */
    public LockTemplate observe(LockTemplate template) {
        return new ObservedTemplate(this, Objects.requireNonNull(template, "template"));
    }

    /**
     * Starts to observe acquiring some locks and the work under them. For the integration of Lockstep with a framework.
     *
     * @param lockNames the locks
     * @param parent the observation that it is a part of; null for the current one of this thread
     * @return the observation, to be ended
     */
    public LockObservation start(Collection<String> lockNames, @Nullable Observation parent) {
        LockedContext context = new LockedContext(lockNames);
        Observation observation = Observation.createNotStarted(LOCKED, () -> context, registry);
        if (parent != null) {
            observation.parentObservation(parent);
        }
        for (String key : List.of("client", "engine", "mode", "group", "outcome")) {
            context.low(key, NONE); // meters that are made of observations have the same keys each time
        }
        context.high("lockstep.lock", String.join(",", lockNames));
        return new LockObservation(observation.start(), context);
    }
}
