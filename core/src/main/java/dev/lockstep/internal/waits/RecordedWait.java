package dev.lockstep.internal.waits;

import dev.lockstep.LockInfo;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Waiter;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * A call of a thread that holds other locks, which the engine knows of. Immutable.
 *
 * @param holds the grants that the thread holds: it gets no more while it waits
 * @param waitsFor what is recorded beside each of the grants
 */
record RecordedWait(Waiter waiter, List<Hold> holds, LockInfo.Wait waitsFor) {
    static RecordedWait of(Waiter waiter, Thread thread, List<Hold> holds, TurnstileContext client) {
        LockInfo.Wait wait = LockInfo.Wait.of(
                waiter.turnstile().name(),
                waiter.mode(),
                ThreadName.of(thread).toString(),
                client.wallTime(waiter.startNanos())
                        .truncatedTo(ChronoUnit.MILLIS), // as exact as every engine keeps it
                waiter.isBounded());
        return new RecordedWait(waiter, List.copyOf(holds), wait);
    }

    void begin() {
        holds.forEach(hold -> hold.turnstile.waits().began(hold, waitsFor));
    }

    void end() {
        holds.forEach(hold -> hold.turnstile.waits().ended(hold));
    }

    /** Lets others see what other readers under the same grants wait for. */
    void showNext() {
        holds.forEach(hold -> hold.turnstile.waits().showNext(hold));
    }
}
