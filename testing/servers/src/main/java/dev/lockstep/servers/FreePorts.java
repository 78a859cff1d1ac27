package dev.lockstep.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Loopback ports that nothing listens on. They are drawn at random from below the range that outgoing connections get
 * theirs from, and never twice in a JVM, so that a stopped server finds its port free again when it restarts.
 * Thread-safe.
 */
public final class FreePorts {
    /** How far above its own port a Redis Cluster node's bus is. */
    static final int BUS_OFFSET = 10_000;

    private static final int FIRST = 12_000;
    private static final int LAST = 22_000;
    private static final int TRIES = 10_000;
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private FreePorts() {}

    /**
     * A port that is free now.
     *
     * @return a port, not given out before by this JVM
     */
    public static int next() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            if (!GIVEN.contains(port) && isFree(port) && isFree(port + BUS_OFFSET) && GIVEN.add(port)) {
                return port;
            }
        }
        throw new ServerException("no free port between " + FIRST + " and " + LAST);
    }

    /**
     * Tells if a server could listen on a port now.
     *
     * @param port the port, on the loopback address
     * @return whether nothing listens there
     */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(address(port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** A port on the loopback address. */
    static InetSocketAddress address(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // never for four bytes
        }
    }
}
