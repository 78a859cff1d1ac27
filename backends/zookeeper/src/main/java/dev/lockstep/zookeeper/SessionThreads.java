package dev.lockstep.zookeeper;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of a session beside those of ZooKeeper's client. None exists unless it has work to do. Safe for use by many
 * threads.
 */
final class SessionThreads {
    private final String clientName;
    private final ThreadPoolExecutor inOrder;

    SessionThreads(String clientName) {
        this.clientName = clientName;
        this.inOrder = new ThreadPoolExecutor(
                1, 1, 1, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), action -> thread("ended", action));
        inOrder.allowCoreThreadTimeOut(true);
    }

    /** Runs what may block, on a thread of its own. */
    void start(String what, Runnable action) {
        thread(what, action).start();
    }

    /** Runs actions one after the other, in the order of these calls. */
    void runInOrder(Runnable action) {
        inOrder.execute(action);
    }

    private Thread thread(String what, Runnable action) {
        Thread thread = new Thread(action, "lockstep-zookeeper-" + what + "-" + clientName);
        thread.setDaemon(true);
        return thread;
    }
}
