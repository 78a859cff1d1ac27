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
import java.util.function.Supplier;
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

    private final List<LockObserver> observers;
    private final boolean any;

    /** The observers and the one for flight recordings; null if this JVM makes none. Set once, before the first call. */
    private volatile @Nullable List<LockObserver> withRecorder;

    public Observers(List<LockObserver> observers) {
        this.observers = observers;
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
            List<LockObserver> all = new ArrayList<>(observers);
            all.add(recorder);
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
        notifyEach(observers, event);
    }

    private static void notifyEach(List<LockObserver> observers, Consumer<LockObserver> event) {
        for (LockObserver observer : observers) {
            try {
                event.accept(observer);
            } catch (Throwable e) {
                failed(observer, e);
            }
        }
    }

    /** A call starts. */
    public Followed started(LockObserver.Call call) {
        List<LockObserver> recorded = withRecorder;
        List<LockObserver> each = recorded != null && isRecorded() ? recorded : observers;
        if (each.size() == 1) {
            return Guarded.started(each.get(0), call);
        }
        return new All(
                each.stream().map(observer -> Guarded.started(observer, call)).toList());
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
    }

    private record All(List<Guarded> each) implements Followed {
        @Override
        public Followed next(LockObserver.Call call) {
            return new All(each.stream().map(one -> one.next(call)).toList());
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

    /** Keeps what users' code throws from the caller. */
    private record Guarded(LockObserver observer, CallObserver follower) implements Followed {
        static Guarded started(LockObserver observer, LockObserver.Call call) {
            return of(observer, () -> observer.callStarted(call));
        }

        @Override
        public Guarded next(LockObserver.Call call) {
            return of(observer, () -> observer.nextCallStarted(call, follower));
        }

        private static Guarded of(LockObserver observer, Supplier<@Nullable CallObserver> start) {
            CallObserver follower = null; // also what users' code may return
            try {
                follower = start.get();
            } catch (Throwable e) {
                failed(observer, e);
            }
            return new Guarded(observer, follower == null ? CallObserver.NONE : follower);
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
                List<LockObserver> recorded = withRecorder;
                List<LockObserver> each = recorded != null && FlightRecords.wantRequests() ? recorded : observers;
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
