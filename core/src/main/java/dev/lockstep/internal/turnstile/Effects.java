package dev.lockstep.internal.turnstile;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The effects of one decision, in the order in which they are performed: first the watch of deadlines and what others wait
 * for, then users' code, which may take its time, then the one request that the deciding thread waits for itself. They are
 * collected under the mutex, and performed without it by the thread that decided.
 */
final class Effects {
    private static final Logger log = LoggerFactory.getLogger(Effects.class);

    private @Nullable List<Effect> first;
    private @Nullable List<Effect> usersCode;
    private @Nullable Effect own;

    /** The earliest deadline to be watched; meaningless unless there is one. Not an object: every hold has a deadline. */
    private long deadlineNanos;

    private boolean hasDeadline;

    void add(Effect effect) {
        if (first == null) {
            first = new ArrayList<>(4);
        }
        first.add(effect);
    }

    /** Adds what may run users' code: an executor may run it in this thread. */
    void addUsersCode(Effect effect) {
        if (usersCode == null) {
            usersCode = new ArrayList<>(2);
        }
        usersCode.add(effect);
    }

    /** Adds the request that the deciding thread waits for. There is one at most. */
    void addOwn(Effect request) {
        own = request;
    }

    /** Adds the deadline of a hold, which is to be watched. Of several, the earliest is enough: the watch finds the others. */
    void watchDeadline(long nanos) {
        if (!hasDeadline || nanos - deadlineNanos < 0) {
            deadlineNanos = nanos;
        }
        hasDeadline = true;
    }

    /** Leaves the mutex, and performs what was collected under it. */
    void leave(ReentrantLock mutex, Actions actions) {
        Effect request = own;
        boolean watch = hasDeadline;
        if (first == null && usersCode == null && request == null && !watch) {
            mutex.unlock();
            return;
        }
        long watched = deadlineNanos;
        hasDeadline = false;
        List<Effect> dueFirst = first;
        List<Effect> dueLast = usersCode;
        first = null;
        usersCode = null;
        own = null;
        mutex.unlock();
        if (watch) {
            actions.watchDeadline(watched);
        }
        if (dueFirst != null) {
            perform(dueFirst, actions);
        }
        if (dueLast != null) {
            perform(dueLast, actions);
        }
        if (request != null) {
            request.perform(actions);
        }
    }

    private static void perform(List<Effect> effects, Actions actions) {
        for (Effect effect : effects) {
            try {
                effect.perform(actions);
            } catch (Throwable e) {
                log.error("A deferred action failed", e);
            }
        }
    }
}
