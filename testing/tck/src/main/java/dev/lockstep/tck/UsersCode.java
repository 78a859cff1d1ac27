package dev.lockstep.tck;

import dev.lockstep.LockListener;
import dev.lockstep.LockObserver;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Simulates user code that a client calls, and records each mutex under which that happens. Safe for use by many
 * threads.
 */
final class UsersCode {
    /** Held by each thread of a pool while it runs a task. */
    private static final String WORKER = ThreadPoolExecutor.class.getName() + "$Worker";

    private final Map<String, Integer> calls = new ConcurrentHashMap<>();
    private final List<String> mutexes = new CopyOnWriteArrayList<>();

    /** The client calls it: looks at what the thread holds. */
    void called(String what) {
        ThreadInfo thread = ManagementFactory.getThreadMXBean()
                .getThreadInfo(new long[] {Thread.currentThread().getId()}, true, true)[0];
        for (MonitorInfo monitor : thread.getLockedMonitors()) {
            mutexes.add(what + " under " + monitor + " of " + monitor.getLockedStackFrame());
        }
        for (LockInfo lock : thread.getLockedSynchronizers()) {
            if (!lock.getClassName().equals(WORKER)) {
                mutexes.add(what + " under " + lock + " in " + List.of(thread.getStackTrace()));
            }
        }
        calls.merge(what, 1, Integer::sum);
    }

    /** How often it was called for one reason. */
    int calls(String what) {
        return calls.getOrDefault(what, 0);
    }

    /** The mutexes under which it was called. */
    List<String> mutexes() {
        return List.copyOf(mutexes);
    }

    /** A listener whose calls are named as its methods are. */
    LockListener listener() {
        return standIn(LockListener.class);
    }

    /** An observer, likewise, which observes each call. */
    LockObserver observer() {
        return standIn(LockObserver.class);
    }

    private <T> T standIn(Class<T> type) {
        Object made = Proxy.newProxyInstance(
                UsersCode.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        return ofObject(proxy, method, arguments);
                    }
                    called(method.getName());
                    return method.getReturnType().isInterface() ? standIn(method.getReturnType()) : null;
                });
        return type.cast(made);
    }

    private static Object ofObject(Object proxy, Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "equals" -> proxy == arguments[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "users' code";
        };
    }
}
