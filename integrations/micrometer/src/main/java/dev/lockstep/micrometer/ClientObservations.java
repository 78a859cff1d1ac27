package dev.lockstep.micrometer;

import dev.lockstep.LockClient;
import dev.lockstep.LockObserver;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adds the calls and holds of one client to the observations that they belong to. Safe for use by many threads. */
final class ClientObservations implements LockObserver {
    private final ObservationRegistry registry;
    private final Groups groups;
    private final boolean aroundAcquire;
    private final boolean namesHolders;
    private final @Nullable String clientTag;
    private final Holders holders = new Holders();
    private volatile String client = LockObservations.NONE;
    private volatile String engine = LockObservations.NONE;

    ClientObservations(
            ObservationRegistry registry,
            Groups groups,
            boolean aroundAcquire,
            boolean namesHolders,
            @Nullable String clientTag) {
        this.registry = registry;
        this.groups = groups;
        this.aroundAcquire = aroundAcquire;
        this.namesHolders = namesHolders;
        this.clientTag = clientTag;
    }

    @Override
    public void clientOpening(ClientInfo info) {
        client = clientTag == null ? info.name() : clientTag;
        engine = info.engine();
    }

    @Override
    public void clientOpened(LockClient opened) {
        holders.open(opened);
    }

    @Override
    public void clientClosed(LockClient closed) {
        holders.close();
    }

    @Override
    public CallObserver callStarted(Call call) {
        if (registry.isNoop()) {
            return CallObserver.NONE;
        }
        Observation current = registry.getCurrentObservation();
        boolean locked = current != null
                && current.getContext() instanceof LockedContext context
                && context.takes(call.lockName());
        if (locked) {
            return new Followed(call, current, (LockedContext) current.getContext(), true);
        }
        return aroundAcquire ? acquire(call, current) : CallObserver.NONE;
    }

    /** In a thread that knows nothing of the caller's observation. */
    @Override
    public CallObserver nextCallStarted(Call call, CallObserver first) {
        if (!(first instanceof Followed before)) {
            return CallObserver.NONE;
        }
        if (!before.withHold) {
            return acquire(call, before.context.getParentObservation());
        }
        return before.context.takes(call.lockName())
                ? new Followed(call, before.observation, before.context, true)
                : CallObserver.NONE;
    }

    private CallObserver acquire(Call call, @Nullable ObservationView parent) {
        LockedContext own = new LockedContext(List.of());
        own.low("outcome", LockObservations.NONE);
        own.high("lockstep.lock", call.lockName());
        describe(own, call);
        Observation observation = Observation.createNotStarted(LockObservations.ACQUIRE, () -> own, registry);
        own.setParentObservation(parent);
        return new Followed(call, observation.start(), own, false);
    }

    private void describe(LockedContext context, Call call) {
        context.low("client", client);
        context.low("engine", engine);
        context.low("mode", LockMeters.word(call.mode()));
        context.low("group", groups.of(call.lockName(), call.options()));
    }

    /** A call whose observation was started elsewhere, or which is one itself. */
    private final class Followed implements CallObserver {
        private final Call call;
        private final Observation observation;
        private final LockedContext context;

        /** Whether the observation is of the hold, too, and is ended elsewhere. */
        private final boolean withHold;

        private volatile @Nullable Observation wait;

        Followed(Call call, Observation observation, LockedContext context, boolean withHold) {
            this.call = call;
            this.observation = observation;
            this.context = context;
            this.withHold = withHold;
            if (withHold) {
                context.begin();
                describe(context, call);
            }
        }

        @Override
        public void waiting() {
            observation.event(Observation.Event.of("waiting"));
            LockedContext waiting = new LockedContext(List.of());
            waiting.high("lockstep.lock", call.lockName());
            describe(waiting, call);
            Observation span = Observation.createNotStarted(LockObservations.WAIT, () -> waiting, registry)
                    .parentObservation(observation);
            try (Observation.Scope scope = observation.openScope()) {
                span.start(); // a tracer prefers the current span of the thread, such as the caller's, to the parent
            }
            wait = span;
            if (namesHolders) {
                holders.find(call.lockName(), holder -> waiting.high("lockstep.holder", holder));
            }
        }

        @Override
        public void callEnded(CallEnd end) {
            Observation waited = wait;
            if (waited != null) {
                waited.stop();
            }
            context.outcome(end.outcome());
            if (end.outcome() == CallOutcome.ACQUIRED || end.outcome() == CallOutcome.REENTERED) {
                end.token().ifPresent(token -> context.high("lockstep.token", Long.toString(token)));
                observation.event(Observation.Event.of("granted"));
            } else {
                end.failure().filter(failure -> !withHold).ifPresent(observation::error);
            }
            if (!withHold || end.outcome() != CallOutcome.ACQUIRED) {
                context.end(observation);
            }
        }

        @Override
        public void holdEnded(HoldEnd end) {
            if (!withHold) {
                return;
            }
            end.lossReason().ifPresent(reason -> {
                context.high("lockstep.loss", LockMeters.word(reason));
                observation.event(Observation.Event.of("lost"));
            });
            context.outcome(end.outcome());
            context.end(observation);
        }
    }
}
