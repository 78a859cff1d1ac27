package dev.lockstep.internal.turnstile;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * The one way into a turnstile: an event enters, it is decided under the mutex what follows, the mutex is left, and the
 * effects are performed. The mutex is held for some tens of nanoseconds, and never during I/O. Safe for use by many threads.
 */
final class Gate {
    private final ReentrantLock mutex = new ReentrantLock();
    private final TurnstileContext client;
    private final Rules rules;
    private final Effects effects;
    private final Actions actions;

    Gate(TurnstileContext client, Rules rules, Effects effects, Actions actions) {
        this.client = client;
        this.rules = rules;
        this.effects = effects;
        this.actions = actions;
    }

    void enter() {
        mutex.lock();
    }

    /** Leaves the mutex, and performs what follows from the decisions made under it. */
    void leave() {
        effects.leave(mutex, actions);
    }

    /** Lets an event in that changes something. */
    void post(Runnable event) {
        enter();
        try {
            event.run();
        } finally {
            leave();
        }
    }

    /** Lets an event in, after which it is decided what happens next. */
    void postAndDecide(LongConsumer event) {
        enter();
        try {
            long now = now();
            event.accept(now);
            rules.decide(now);
        } finally {
            leave();
        }
    }

    long now() {
        return client.nanoTime();
    }
}
