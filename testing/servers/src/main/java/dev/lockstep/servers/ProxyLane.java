package dev.lockstep.servers;

import java.util.concurrent.atomic.AtomicLong;

/** One direction of a {@link TcpProxy}, for all its connections. All but the count belongs to the proxy's thread. */
final class ProxyLane {
    /** What came in, swallowed or not. */
    final AtomicLong bytes = new AtomicLong();

    /** How late what comes in from now on leaves. */
    long delayNanos;

    /** Nothing leaves for now. */
    boolean stalled;

    /** What comes in is lost. */
    boolean swallowing;

    void heal() {
        stalled = false;
        swallowing = false;
    }
}
