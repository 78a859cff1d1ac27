package dev.lockstep.internal.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockListener;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.internal.Undeclared;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.spi.VirtualScheduler;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Events for a listener that is slower than they occur. */
class EventsTest {
    private static final int MORE = 100;

    private final Queue<Runnable> slowExecutor = new ArrayDeque<>();
    private final Heard heard = new Heard();
    private final AtomicLong now = new AtomicLong(1);
    private final Events events = new Events(
            List.of(heard),
            Observers.NONE,
            new EventLog("client", "", new VirtualScheduler()),
            slowExecutor::add,
            now::get);

    private static final class Heard implements LockListener {
        int acquired;
        int lost;
        boolean inFallback;

        @Override
        public void onAcquired(Acquired event) {
            acquired++;
        }

        @Override
        public void onLost(Lost event) {
            lost++;
        }

        @Override
        public void onFallbackEntered(FallbackEntered event) {
            inFallback = true;
        }

        @Override
        public void onFallbackLeft(FallbackLeft event) {
            inFallback = false;
        }
    }

    private void listenersGoOn() {
        for (Runnable next = slowExecutor.poll(); next != null; next = slowExecutor.poll()) {
            next.run();
        }
    }

    @Test
    void eventsOfEverydayCallsAreDroppedAndCounted() {
        for (int i = 0; i < Events.CAPACITY + MORE; i++) {
            events.acquired("lock", LockMode.EXCLUSIVE, 0);
        }
        assertThat(events.dropped()).isEqualTo(MORE);
        events.deliver();
        listenersGoOn();
        assertThat(heard.acquired).isEqualTo(Events.CAPACITY);
    }

    @Test
    void lossesAreDroppedLaterAndCounted() {
        events.fallbackEntered(1);
        for (int i = 0; i < Events.LOSS_CAPACITY + MORE; i++) {
            events.lost("lock", LockMode.EXCLUSIVE, LossReason.EXPIRED);
        }
        events.unconfirmed("lock", LockMode.EXCLUSIVE, 1);
        assertThat(events.dropped()).isEqualTo(MORE + 2); // the event of the fallback waits, too
        events.fallbackLeft(1);
        listenersGoOn();
        assertThat(heard.lost).isEqualTo(Events.LOSS_CAPACITY - 1);
        assertThat(heard.inFallback).isFalse();
    }

    @Test
    void aLossAndTheEndOfAFallbackAreHeardAfterAFlood() {
        events.fallbackEntered(1);
        for (int i = 0; i < Events.CAPACITY + MORE; i++) {
            events.acquired("lock", LockMode.EXCLUSIVE, 0);
        }
        events.lost("lock", LockMode.EXCLUSIVE, LossReason.EXPIRED);
        events.fallbackLeft(1);
        listenersGoOn();
        assertThat(heard.lost).isEqualTo(1);
        assertThat(heard.inFallback).isFalse();
    }

    @Test
    void theLogSaysThatEventsAreDroppedAtMostEveryTenSeconds() {
        long tenSeconds = TimeUnit.SECONDS.toNanos(10);
        List<String> logged = new ArrayList<>();
        ThreadLogs.onWarning(logged::add);
        try {
            for (int i = 0; i < Events.CAPACITY; i++) {
                events.acquired("lock", LockMode.EXCLUSIVE, 0);
            }
            assertThat(logged).isEmpty();
            events.acquired("lock", LockMode.EXCLUSIVE, 0);
            assertThat(logged).singleElement().asString().contains("Listeners are too slow", "(1 so far)");
            now.addAndGet(tenSeconds - 1);
            events.acquired("lock", LockMode.EXCLUSIVE, 0);
            assertThat(logged).hasSize(1);
            now.incrementAndGet();
            events.acquired("lock", LockMode.EXCLUSIVE, 0);
            assertThat(logged).hasSize(2);
            assertThat(logged.get(1)).contains("(3 so far)");
        } finally {
            ThreadLogs.onWarning(null);
        }
    }

    @Test
    void anExceptionOfAListenerIsLoggedAndKeepsNoOtherFromNotification() {
        LockListener failing = new LockListener() {
            @Override
            public void onAcquired(Acquired event) {
                Undeclared.fail(new IOException("on purpose"));
            }
        };
        Events both = new Events(
                List.of(failing, heard),
                Observers.NONE,
                new EventLog("client", "", new VirtualScheduler()),
                Runnable::run,
                now::get);
        List<String> logged = new ArrayList<>();
        ThreadLogs.onWarning(logged::add);
        try {
            for (int i = 0; i < 2; i++) {
                both.acquired("lock", LockMode.EXCLUSIVE, 0);
                both.deliver();
            }
        } finally {
            ThreadLogs.onWarning(null);
        }
        assertThat(heard.acquired).isEqualTo(2);
        assertThat(logged).hasSize(2).allMatch(line -> line.contains("A listener failed"));
    }
}
