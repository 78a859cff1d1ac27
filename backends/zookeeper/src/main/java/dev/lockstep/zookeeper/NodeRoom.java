package dev.lockstep.zookeeper;

import java.util.concurrent.atomic.AtomicInteger;

/** How much room for nodes one session has. Safe for use by many threads. */
final class NodeRoom {
    /*
     * Overview. The server ends a session by one transaction that lists the paths of all its nodes. If that is longer than
     * jute.maxbuffer and as much again, 1 MB each by default, the server accepts it and cannot read its own log any more
     * (ZOOKEEPER-4306). So the nodes of a session have paths of MOST_BYTES at most, together, which is far less.
     */
    private static final int MOST_BYTES = 256 * 1024;

    /** In place of a count of bytes. */
    private static final int RETIRED = -1;

    private final AtomicInteger bytes = new AtomicInteger();
    private volatile boolean used; // since the last look

    /** Reserves room for a node, until {@link #free}; false if there is not enough. */
    boolean reserve(int length) {
        used = true;
        int known = bytes.get();
        while (known != RETIRED && (known == 0 || known + length <= MOST_BYTES)) {
            if (bytes.compareAndSet(known, known + length)) {
                return true;
            }
            known = bytes.get();
        }
        return false;
    }

    /** A node for which there was room does not exist, and never will. */
    void free(int length) {
        bytes.addAndGet(-length);
    }

    /** Whether there may be a node. */
    boolean isUsed() {
        return bytes.get() > 0;
    }

    /** Gives no more room if there is no node, and there has been none since the last call. */
    boolean retireIfIdle() {
        boolean idle = !used && bytes.compareAndSet(0, RETIRED);
        used = isUsed();
        return idle;
    }
}
