package dev.lockstep.servers;

import java.util.concurrent.atomic.AtomicLong;

/**
 * One direction of a {@link TcpProxy}, for all its connections. Everything except the count belongs to the proxy's
 * thread.
 */
final class ProxyLane {
    /** The number of bytes that came in, swallowed or not. */
    final AtomicLong bytes = new AtomicLong();

    /** How late what comes in from now on leaves. */
    long delayNanos;

    /** Nothing leaves for now. */
    boolean stalled;

    /** Incoming bytes are lost. */
    boolean swallowing;

    void heal() {
        stalled = false;
        swallowing = false;
    }
}
