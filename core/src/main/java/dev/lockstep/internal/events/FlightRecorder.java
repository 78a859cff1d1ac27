package dev.lockstep.internal.events;

import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import dev.lockstep.LossReason;
import java.time.Duration;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.SettingDefinition;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * Writes waits, holds, losses and slow requests into flight recordings. Only used, and only loaded, if the JVM has the module
 * {@code jdk.jfr}: ask {@link FlightRecords}. The annotations of the events are their defaults; a recording's settings change
 * them. Safe for use by many threads.
 */
final class FlightRecorder implements LockObserver {
    private final String client;
    private final String address;

    FlightRecorder(String client, String address) {
        this.client = client;
        this.address = address;
    }

    /** Whether a recording wants to know of calls and holds. The JVM answers in no time while none runs. */
    static boolean wantsCalls() {
        return new Wait().isEnabled() || new Hold().isEnabled();
    }

    /** A hold was lost, no matter whether a recording ran when it was acquired. */
    static void lost(String client, String lock, LockMode mode, LossReason reason, long token) {
        Loss loss = new Loss();
        if (loss.isEnabled()) {
            loss.client = client;
            loss.lock = lock;
            loss.mode = mode.name();
            loss.reason = reason.name();
            loss.token = token;
            loss.commit();
        }
    }

    static boolean wantsRequests() {
        return new EngineRequest().isEnabled();
    }

    @Override
    public CallObserver callStarted(Call call) {
        return new Follower(client, call);
    }

    @Override
    public void requestEnded(Request request) {
        EngineRequest event = new EngineRequest();
        event.elapsed = request.duration().toNanos();
        if (event.shouldCommit()) {
            event.client = client;
            event.engine = address;
            event.kind = request.kind();
            event.failure = request.failure().map(Throwable::toString).orElse("");
            event.commit();
        }
    }

    /** One call and its hold. */
    private static final class Follower implements CallObserver {
        private final String client;
        private final Call call;
        private final Wait wait = new Wait();
        private final Hold hold = new Hold();
        private boolean waited;

        Follower(String client, Call call) {
            this.client = client;
            this.call = call;
            wait.begin();
        }

        @Override
        public void waiting() {
            waited = true;
        }

        @Override
        public void callEnded(CallEnd end) {
            wait.end();
            if (waited && wait.shouldCommit()) {
                wait.client = client;
                wait.lock = call.lockName();
                wait.mode = call.mode().name();
                wait.outcome = end.outcome().name();
                wait.async = call.isAsync();
                wait.commit();
            }
            hold.begin();
        }

        @Override
        public void holdEnded(HoldEnd end) {
            hold.end();
            if (hold.shouldCommit()) {
                hold.client = client;
                hold.lock = call.lockName();
                hold.mode = call.mode().name();
                hold.outcome = end.outcome().name();
                hold.token = end.token().orElse(0);
                hold.commit();
            }
        }
    }

    @Name("dev.lockstep.Wait")
    @Label("Wait for a Lock")
    @Description("A call that did not get its lock at once, from its start to its end")
    @Category("Lockstep")
    @Threshold("20 ms")
    @StackTrace
    static final class Wait extends Event {
        @Label("Client")
        String client = "";

        @Label("Lock")
        String lock = "";

        @Label("Mode")
        String mode = "";

        @Label("Outcome")
        String outcome = "";

        @Label("Asynchronous")
        boolean async;
    }

    @Name("dev.lockstep.Hold")
    @Label("Hold of a Lock")
    @Description("From acquiring a lock to releasing or losing it; the stack trace is that of the end")
    @Category("Lockstep")
    @Threshold("20 ms")
    @StackTrace
    static final class Hold extends Event {
        @Label("Client")
        String client = "";

        @Label("Lock")
        String lock = "";

        @Label("Mode")
        String mode = "";

        @Label("Outcome")
        String outcome = "";

        @Label("Token")
        @Description("0 if nobody has asked for it")
        long token;
    }

    @Name("dev.lockstep.Loss")
    @Label("Loss of a Lock")
    @Description("A hold was lost; the stack trace is that of the thread that noticed it")
    @Category("Lockstep")
    @StackTrace
    static final class Loss extends Event {
        @Label("Client")
        String client = "";

        @Label("Lock")
        String lock = "";

        @Label("Mode")
        String mode = "";

        @Label("Reason")
        String reason = "";

        @Label("Token")
        @Description("0 if nobody has asked for it")
        long token;
    }

    @Name("dev.lockstep.EngineRequest")
    @Label("Request to the Engine")
    @Description("One try of a request, written when it ended")
    @Category("Lockstep")
    @Enabled
    @StackTrace
    static final class EngineRequest extends Event {
        @Label("Client")
        String client = "";

        @Label("Engine")
        String engine = "";

        @Label("Kind")
        String kind = "";

        @Label("Failure")
        @Description("Empty if the engine answered")
        String failure = "";

        @Label("Elapsed")
        @Timespan(Timespan.NANOSECONDS)
        long elapsed;

        /** The event is written at once when a request has ended, so the usual threshold does not apply to it. */
        @SettingDefinition
        @Name("minimum")
        @Label("Minimum")
        @Description("Requests that took less are not recorded, such as 20 ms")
        boolean minimum(FlightThreshold setting) {
            return setting.isReached(Duration.ofNanos(elapsed));
        }
    }
}
