package dev.lockstep.servers;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Loopback ports that nothing listens on. They are drawn at random from below the range that outgoing connections get
 * theirs from. A port that was given out is not given out again, by no JVM of this user, until this JVM ends: a stopped
 * server finds its port free again when it restarts, even while other tests run. Thread-safe.
 */
public final class FreePorts {
    /** How far above its own port a Redis Cluster node's bus is. */
    static final int BUS_OFFSET = 10_000;

    private static final int FIRST = 12_000;
    private static final int LAST = 22_000;
    private static final int TRIES = 10_000;
    private static final int PROBE_MILLIS = 5_000;
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    /** A file in the cache folder, of which each JVM has locked the bytes whose places are its ports. */
    private static final String RESERVATIONS = "ports";

    private static final Map<Integer, FileLock> LOCKS = new ConcurrentHashMap<>();
    private static final @Nullable FileChannel CHANNEL = openReservations();

    private FreePorts() {}

    /**
     * A port that is free now.
     *
     * @return a port, not given out before by this JVM
     */
    public static int next() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            if (!GIVEN.add(port)) {
                continue;
            }
            if (!reserve(port)) {
                GIVEN.remove(port);
            } else if (isFree(port) && isFree(port + BUS_OFFSET)) {
                return port;
            } else {
                giveBack(port);
            }
        }
        throw new ServerException("no free port between " + FIRST + " and " + LAST);
    }

    /** Lets a port be given out again, of something that will not listen there any more. */
    static void giveBack(int port) {
        FileLock lock = LOCKS.remove(port);
        if (lock != null) {
            try {
                lock.release();
            } catch (IOException e) {
                return; // it stays reserved until the JVM ends
            }
        }
        GIVEN.remove(port);
    }

    private static @Nullable FileChannel openReservations() {
        try {
            Path folder = Files.createDirectories(ServerCache.ofUser().directory());
            return FileChannel.open(folder.resolve(RESERVATIONS), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            return null; // other JVMs may then draw the same port, as happens seldom
        }
    }

    private static boolean reserve(int port) {
        if (CHANNEL == null) {
            return true;
        }
        try {
            FileLock lock = CHANNEL.tryLock(port, 1, false);
            if (lock == null) {
                return false;
            }
            LOCKS.put(port, lock);
            return true;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /**
     * Returns whether a server could listen on a port now.
     *
     * <p>It connects instead of binding the port. A process that another thread starts at this moment inherits a bound
     * socket and keeps it until it runs its own program. On a busy machine that takes long enough that the server, which
     * is to listen here, finds its port in use.
     *
     * @param port the port, on the loopback address
     * @return whether nothing listens there
     */
    public static boolean isFree(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(address(port), PROBE_MILLIS);
            return false;
        } catch (ConnectException e) {
            return true; // refused
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
