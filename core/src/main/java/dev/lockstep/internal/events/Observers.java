package dev.lockstep.internal.events;

import dev.lockstep.LockClient;
import dev.lockstep.LockObserver;
import dev.lockstep.LockObserver.CallEnd;
import dev.lockstep.LockObserver.CallObserver;
import dev.lockstep.LockObserver.HoldEnd;
import dev.lockstep.spi.RequestObserver;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The observers of a client. Their exceptions are logged here and go no further, including undeclared checked
 * exceptions, which Kotlin allows. Safe for use by many threads.
 */
public final class Observers {
    private static final Logger log = LoggerFactory.getLogger(Observers.class);

    public static final Observers NONE = new Observers(List.of());

    private final List<Guard> guards;
    private final boolean any;

    /** The observers and the one for flight recordings; null if this JVM makes none. Set once, before the first call. */
    private volatile @Nullable List<Guard> withRecorder;

    public Observers(List<LockObserver> observers) {
        this.guards = observers.stream().map(Guard::new).toList();
        this.any = !observers.isEmpty();
    }

    /** Whether calls are observed: by an observer, or by a flight recording that is under way. */
    public boolean isAny() {
        return any || isRecorded();
    }

    private boolean isRecorded() {
        return withRecorder != null && FlightRecords.wantCalls();
    }

    public void opening(String clientName, String engine, String address) {
        ClientInfo client = new ClientInfo(clientName, engine, address);
        FlightRecords.observer(clientName, address).ifPresent(recorder -> {
            List<Guard> all = new ArrayList<>(guards);
            all.add(new Guard(recorder));
            withRecorder = List.copyOf(all);
        });
        notifyEach(observer -> observer.clientOpening(client));
    }

    public void closed(LockClient client) {
        notifyEach(observer -> observer.clientClosed(client));
    }

    public void opened(LockClient client) {
        notifyEach(observer -> observer.clientOpened(client));
    }

    /** Calls each observer. Not under a mutex. */
    void notifyEach(Consumer<LockObserver> event) {
        notifyEach(guards, event);
    }

    private static void notifyEach(List<Guard> guards, Consumer<LockObserver> event) {
        for (Guard guard : guards) {
            try {
                event.accept(guard.observer);
            } catch (Throwable e) {
                failed(guard.observer, e);
            }
        }
    }

    /** A call starts. */
    public Followed started(LockObserver.Call call) {
        List<Guard> recorded = withRecorder;
        List<Guard> each = recorded != null && isRecorded() ? recorded : guards;
        if (each.size() == 1) {
            return each.get(0).started(call);
        }
        return new All(each.stream().map(guard -> guard.started(call)).toList());
    }

    private static void failed(Object observer, Throwable thrown) {
        if (thrown instanceof InterruptedException) {
            Thread.currentThread().interrupt(); // the interrupt is the caller's
        }
        log.warn("An observer failed: {}", observer.getClass().getName(), thrown);
    }

    /** Follows one call on behalf of the observers that were there when it started. Throws nothing. */
    public interface Followed extends CallObserver {
        Followed NONE = new All(List.of());

        /** The call continues with a further lock. */
        Followed next(LockObserver.Call call);

        /** Whether nobody wants to know of this call and of its hold. */
        boolean isNothing();
    }

    private record All(List<Guarded> each) implements Followed {
        @Override
        public Followed next(LockObserver.Call call) {
            return new All(each.stream().map(one -> one.next(call)).toList());
        }

        @Override
        public boolean isNothing() {
            return each.stream().allMatch(Guarded::isNothing);
        }

        @Override
        public void waiting() {
            each.forEach(CallObserver::waiting);
        }

        @Override
        public void callEnded(CallEnd end) {
            each.forEach(one -> one.callEnded(end));
        }

        @Override
        public void holdEnded(HoldEnd end) {
            each.forEach(one -> one.holdEnded(end));
        }
    }

    /** Keeps what an observer throws from the caller. */
    private static final class Guard {
        final LockObserver observer;

        /** For all calls of which it wants to know nothing. */
        private final Guarded nothing = new Guarded(this, CallObserver.NONE);

        Guard(LockObserver observer) {
            this.observer = observer;
        }

        Guarded started(LockObserver.Call call) {
            CallObserver follower = null; // also what users' code may return
            try {
                follower = observer.callStarted(call);
            } catch (Throwable e) {
                failed(observer, e);
            }
            return guarded(follower);
        }

        Guarded next(LockObserver.Call call, CallObserver first) {
            CallObserver follower = null;
            try {
                follower = observer.nextCallStarted(call, first);
            } catch (Throwable e) {
                failed(observer, e);
            }
            return guarded(follower);
        }

        private Guarded guarded(@Nullable CallObserver follower) {
            return follower == null || follower == CallObserver.NONE ? nothing : new Guarded(this, follower);
        }
    }

    /** Keeps what the observer of a call throws from the caller. */
    private record Guarded(Guard guard, CallObserver follower) implements Followed {
        @Override
        public Guarded next(LockObserver.Call call) {
            return guard.next(call, follower);
        }

        @Override
        public boolean isNothing() {
            return follower == CallObserver.NONE;
        }

        @Override
        public void waiting() {
            try {
                follower.waiting();
            } catch (Throwable e) {
                failed(follower, e);
            }
        }

        @Override
        public void callEnded(CallEnd end) {
            try {
                follower.callEnded(end);
            } catch (Throwable e) {
                failed(follower, e);
            }
        }

        @Override
        public void holdEnded(HoldEnd end) {
            try {
                follower.holdEnded(end);
            } catch (Throwable e) {
                failed(follower, e);
            }
        }
    }

    /** Observes a backend's requests on behalf of the observers. */
    public RequestObserver requests(Scheduler scheduler) {
        return new RequestObserver() {
            @Override
            public void ended(String kind, long sentNanos, @Nullable Throwable failure) {
                List<Guard> recorded = withRecorder;
                List<Guard> each = recorded != null && FlightRecords.wantRequests() ? recorded : guards;
                if (each.isEmpty()) {
                    return;
                }
                var request = new Request(
                        kind, Duration.ofNanos(scheduler.nanoTime() - sentNanos), Optional.ofNullable(failure));
                notifyEach(each, observer -> observer.requestEnded(request));
            }

            @Override
            public void renewalFailed(int size, Throwable failure) {
                var event = new RenewalFailure(size, failure);
                notifyEach(observer -> observer.renewalFailed(event));
            }
        };
    }

    private record ClientInfo(String name, String engine, String address) implements LockObserver.ClientInfo {}

    private record Request(String kind, Duration duration, Optional<Throwable> failure)
            implements LockObserver.Request {}

    private record RenewalFailure(int size, Throwable failure) implements LockObserver.RenewalFailure {}
}
