package dev.lockstep.torture;

import dev.lockstep.LeaderTask;
import dev.lockstep.LockClient;
import dev.lockstep.Term;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;

/**
 * A client whose elections do not end a term when it is lost: the task keeps running, and the term says that it is
 * valid.
 */
final class EndlessTerms {
    private EndlessTerms() {}

    static LockClient of(LockClient client) {
        return wrap(client, LockClient.class);
    }

    private static <T> T wrap(T target, Class<T> type) {
        Object proxy =
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (target instanceof Term && method.getName().equals("isValid")) {
                        return true;
                    }
                    if (arguments != null && arguments[arguments.length - 1] instanceof LeaderTask task) {
                        arguments[arguments.length - 1] = endless(task);
                    }
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return type.cast(proxy);
    }

    /** Runs the task in another thread, where no interrupt reaches it. */
    private static LeaderTask endless(LeaderTask task) {
        return term -> {
            Thread thread = new Thread(() -> lead(task, wrap(term, Term.class)));
            thread.setDaemon(true);
            thread.start();
            Parking.until(
                    () -> {
                        Thread.interrupted(); // it is deaf
                        return !thread.isAlive();
                    },
                    Duration.ofDays(1));
        };
    }

    private static void lead(LeaderTask task, Term term) {
        try {
            task.lead(term);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
