package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.internal.concurrent.Handles;
import dev.lockstep.spi.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Call} that has arrived and has no hold yet, until it has its {@link Result}. Fields without a comment of their own
 * are guarded by the turnstile's mutex.
 */
public final class Waiter extends Chain.Link<Waiter> implements Entry {
    private static final VarHandle RESULT = Handles.of(MethodHandles.lookup(), Waiter.class, "result", Result.class);

    final Turnstile turnstile;
    final Call call;

    /** When it arrived. */
    final long startNanos;

    /** The claim that is this call's alone: of a fair lock, or of a call that may not wait. */
    private @Nullable Passage passage;

    /** How many others took the lock while this one stood at the head of the queue. */
    private int bypassed;

    /** An idle grant was offered to this waiter, and its thread woken to take it. Written under the mutex. */
    private volatile boolean offered;

    private boolean taking;

    /**
     * The result that the call will have when nothing that it left behind is in the engine any more; null before it
     * gives up. Its own thread may look at it without the mutex.
     */
    private @Nullable Result answer;

    /** The passages that were leaving when the call gave up. */
    private List<Passage> leaving = List.of();

    /** Ends the wait for that after the request timeout; null until it has been set, and when it has been taken. */
    private Scheduler.@Nullable Timer timer;

    /** Notifies observers that it must wait; null if they know it, or there are none. */
    private @Nullable Runnable waitReport;

    /** Whether its thread holds other locks, and the wait watch has looked at that; written by the watch alone. */
    private boolean examined;

    private volatile boolean recorded;

    /** Written once, under the mutex. */
    private volatile @Nullable Result result;

    Waiter(Turnstile turnstile, Call call, long startNanos) {
        this.turnstile = turnstile;
        this.call = call;
        this.startNanos = startNanos;
    }

    /** The result; null while it waits. May be asked without the mutex. */
    public @Nullable Result result() {
        return result;
    }

    public Turnstile turnstile() {
        return turnstile;
    }

    /** True the first time. By the watch of waits alone. */
    public boolean examine() {
        boolean news = !examined;
        examined = true;
        return news;
    }

    /** The wait is to be recorded in the engine; the thread that ends it notifies the watch. */
    public void markRecorded() {
        recorded = true;
    }

    boolean isRecorded() {
        return recorded;
    }

    public LockMode mode() {
        return call.mode();
    }

    /** The thread that waits; null if the call is asynchronous. */
    public @Nullable Thread thread() {
        return call.owner();
    }

    public long startNanos() {
        return startNanos;
    }

    /** Whether it has a deadline of its own. */
    public boolean isBounded() {
        return call.isBounded();
    }

    /** How long it waits at most, from its arrival. Only if it is bounded. */
    public long boundNanos() {
        return call.boundNanos(turnstile.client());
    }

    /**
     * Registers a report that this call must wait.
     *
     * @param report runs on the client's executor when the engine has said so
     * @return whether that is known already: then the caller runs the report
     */
    public boolean reportWait(Runnable report) {
        return turnstile.engineEvents().reportWait(this, report);
    }

    /** Its wait was cancelled. False if it was over before. */
    public boolean giveUp() {
        return turnstile.giveUp(this);
    }

    /** Its time is up. False if it must look again soon, because nothing is known of the lock yet. */
    public boolean timeUp() {
        return turnstile.timeUp(this);
    }

    boolean mayWait() {
        return call.mayWait();
    }

    /** Whether it waits no longer for the lock, but at most until what it left behind is gone. */
    public boolean isOver() {
        return result != null || answer != null;
    }

    boolean hasGivenUp() {
        return answer != null;
    }

    /** Gives the call its result. Under the mutex, which publishes it. */
    void finish(Result how) {
        RESULT.setRelease(this, how);
    }

    @Nullable
    Passage passage() {
        return passage;
    }

    void claimsBy(Passage own) {
        passage = own;
    }

    boolean isOffered() {
        return offered;
    }

    /** False if something was offered to it before. */
    boolean offer() {
        boolean news = !offered;
        offered = true;
        return news;
    }

    /** Whether its own thread decides, so that it takes a grant at once instead of being offered it. Under the mutex. */
    boolean isTaking() {
        return taking;
    }

    void beginTaking() {
        taking = true;
    }

    void endTaking() {
        taking = false;
    }

    /** It looks at what was offered. */
    void takeOffer() {
        offered = false;
    }

    int bypassed() {
        return bypassed;
    }

    /** Another call took what it waits for. */
    void bypass() {
        bypassed++;
    }

    /** Keeps a report until it is known that the call must wait. */
    void reportWaitBy(Runnable report) {
        waitReport = report;
    }

    /** The report that the call must wait, once; null if there is none. */
    @Nullable
    Runnable takeWaitReport() {
        Runnable report = waitReport;
        waitReport = null;
        return report;
    }

    /** It gives up, and has its result when some passages are gone. */
    void leave(Result later) {
        answer = later;
    }

    void leaveAfter(List<Passage> passages) {
        leaving = passages;
    }

    void endsBy(Scheduler.Timer set) {
        timer = set;
    }

    /** The timer that would end the wait for what it left behind, once; null if there is none. */
    Scheduler.@Nullable Timer takeTimer() {
        Scheduler.Timer set = timer;
        timer = null;
        return set;
    }

    boolean hasLeft() {
        for (Passage one : leaving) {
            if (one.state() != PassageState.GONE) {
                return false;
            }
        }
        return true;
    }

    /** The result that it will have; null if it did not give up. */
    @Nullable
    Result answer() {
        return answer;
    }
}
