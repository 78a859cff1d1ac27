package dev.lockstep.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/*
 * Overview. One thread and one selector serve all connections. A connection is two pipes, one per direction; a pipe reads
 * from its source, stamps what it read with the time at which it may leave, and writes it to its sink in that order. So
 * bytes are late but not slow: many are on their way at once. The end of a stream and a reset travel through the same
 * queue. Faults are flags that only the selector's thread changes: a caller hands it a task and waits until that is done,
 * so that a fault is in force when the call that asked for it returns.
 *
 * TCP loses no bytes inside a stream, so a connection that had bytes swallowed cannot go on: it is reset when its fault
 * ends, as a real one would have been by its peers.
 */
/**
 * A proxy in front of a loopback port that delays, cuts, swallows and drops replies. Delays stay until they are changed;
 * {@link #heal} ends everything else. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {
    /** Which way bytes go. */
    public enum Direction {
        /** From client to server. */
        REQUESTS,
        /** From server to client. */
        REPLIES
    }

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int BACKLOG = 1_024;
    private static final long MILLI = 1_000_000;
    private static final long CLOSE_MILLIS = 10_000;

    private final InetSocketAddress target;
    private final InetSocketAddress listening;
    private final Selector selector;
    private final Thread thread;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicLongArray bytes = new AtomicLongArray(Direction.values().length);
    private final AtomicLong accepted = new AtomicLong();
    private volatile int open;
    private volatile boolean closed;

    // What follows belongs to the selector's thread.
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final Set<ProxiedConnection> connections = new HashSet<>();
    private final PriorityQueue<Due> timers = new PriorityQueue<>(Comparator.comparingLong(Due::when));
    private final long[] delayNanos = new long[Direction.values().length];
    private final boolean[] stalled = new boolean[Direction.values().length];
    private final boolean[] swallowing = new boolean[Direction.values().length];
    private final Queue<ReplyDrop> replyDrops = new ArrayDeque<>();
    private @Nullable ServerSocketChannel listener;

    private record Due(long when, Runnable what) {}

    /** A reply that shall be lost: the next one to a request with these bytes in it, or of all if there are none. */
    record ReplyDrop(byte[] request, long silenceNanos, CompletableFuture<Void> done) {}

    private TcpProxy(InetSocketAddress target) throws IOException {
        this.target = target;
        this.listening = FreePorts.address(FreePorts.next());
        this.selector = Selector.open();
        listen();
        thread = new Thread(this::run, "lockstep-proxy-" + listening.getPort());
        thread.setDaemon(true);
    }

    /**
     * Starts a proxy in front of a server.
     *
     * @param server the server
     * @return the proxy, on a port of its own
     */
    public static TcpProxy to(ServerProcess server) {
        return to(server.port());
    }

    /**
     * Starts a proxy in front of a loopback port.
     *
     * @param port the port; nothing needs to listen there yet
     * @return the proxy, on a port of its own
     */
    public static TcpProxy to(int port) {
        try {
            TcpProxy proxy = new TcpProxy(FreePorts.address(port));
            proxy.thread.start();
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException("no proxy to port " + port, e);
        }
    }

    /**
     * The loopback port that clients connect to.
     *
     * @return the port, the same after {@link #cut} and {@link #heal}
     */
    public int port() {
        return listening.getPort();
    }

    /**
     * Makes each direction late by a fixed time.
     *
     * @param eachWay the delay of a request, and again of its reply
     */
    public void delay(Duration eachWay) {
        for (Direction direction : Direction.values()) {
            delay(direction, eachWay);
        }
    }

    /**
     * Makes one direction late by a fixed time; what is on its way already keeps the old one.
     *
     * @param direction which
     * @param delay how late
     */
    public void delay(Direction direction, Duration delay) {
        onThread(() -> delayNanos[direction.ordinal()] = delay.toNanos());
    }

    /** Resets all connections and lets clients connect again at once. */
    public void resetConnections() {
        onThread(this::resetAll);
    }

    /** Resets all connections and refuses new ones, as if no process listened. */
    public void cut() {
        onThread(() -> {
            stopListening();
            resetAll();
        });
    }

    /** Swallows everything in both directions, the ends of streams included: a partition, in which nobody is told. */
    public void blackHole() {
        onThread(() -> {
            Arrays.fill(swallowing, true);
            connections.forEach(ProxiedConnection::dropQueued);
        });
    }

    /** Swallows all replies; requests still reach the server. */
    public void dropReplies() {
        onThread(() -> {
            swallowing[Direction.REPLIES.ordinal()] = true;
            connections.forEach(ProxiedConnection::dropQueued);
        });
    }

    /**
     * Holds back one direction. Nothing is lost: {@link #heal} lets it all through, as after a partition so short that
     * connections outlive it.
     *
     * @param direction which
     */
    public void stall(Direction direction) {
        onThread(() -> stalled[direction.ordinal()] = true);
    }

    /**
     * Loses the next reply on any connection, and resets that connection.
     *
     * @return done when a reply was lost
     */
    public CompletableFuture<Void> dropNextReply() {
        return drop(new byte[0], Duration.ZERO);
    }

    /**
     * Loses the reply to the next request that has some text in it, and all that follows on its connection, which is
     * reset after a while. Other connections are not touched. On a protocol whose replies are not one to one (HTTP/2),
     * give the request time to be carried out before the reset.
     *
     * @param text what the request contains, such as a command or a lock's name
     * @param silence how long the client hears nothing before the connection is reset
     * @return done when the reply was lost
     */
    public CompletableFuture<Void> dropReplyTo(String text, Duration silence) {
        return drop(text.getBytes(StandardCharsets.UTF_8), silence);
    }

    private CompletableFuture<Void> drop(byte[] request, Duration silence) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        onThread(() -> replyDrops.add(new ReplyDrop(request, silence.toNanos(), done)));
        return done;
    }

    /** Ends every fault but the delay. Connections that lost bytes are reset; the others go on. */
    public void heal() {
        onThread(() -> {
            Arrays.fill(swallowing, false);
            Arrays.fill(stalled, false);
            replyDrops.clear();
            List.copyOf(connections).forEach(ProxiedConnection::heal);
            if (listener == null) {
                try {
                    listen();
                } catch (IOException e) {
                    throw new UncheckedIOException("cannot listen on " + listening + " again", e);
                }
            }
        });
    }

    /**
     * How many connections were accepted since the start.
     *
     * @return a count that only rises
     */
    public long acceptedConnections() {
        return accepted.get();
    }

    /**
     * How many connections there are now.
     *
     * @return those that neither side has ended
     */
    public int openConnections() {
        return open;
    }

    /**
     * How many bytes came in, swallowed ones included.
     *
     * @param direction from which side
     * @return a count that only rises
     */
    public long bytes(Direction direction) {
        return bytes.get(direction.ordinal());
    }

    /** Resets all connections, stops listening and ends the thread. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return listening + " -> " + target;
    }

    private void onThread(Runnable task) {
        if (closed) {
            throw new IllegalStateException("the proxy is closed");
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        tasks.add(() -> {
            try {
                task.run();
                done.complete(null);
            } catch (RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        selector.wakeup();
        done.orTimeout(CLOSE_MILLIS, TimeUnit.MILLISECONDS).join();
    }

    // ---- the selector's thread

    private void run() {
        try (selector) {
            while (!closed) {
                select();
                for (SelectionKey key : selector.selectedKeys()) {
                    serve(key);
                }
                selector.selectedKeys().clear();
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
                long now = System.nanoTime();
                while (!timers.isEmpty() && timers.element().when() - now <= 0) {
                    timers.remove().what().run();
                }
            }
            stopListening();
            resetAll();
        } catch (IOException e) {
            throw new UncheckedIOException("proxy " + this, e);
        }
    }

    /** The selector counts in milliseconds; the rest of a wait is slept, so that a delay is right to about 0.1 ms. */
    private void select() throws IOException {
        long wait = timers.isEmpty() ? Long.MAX_VALUE : timers.element().when() - System.nanoTime();
        if (!tasks.isEmpty() || wait <= 0) {
            selector.selectNow();
        } else if (wait < MILLI) {
            LockSupport.parkNanos(wait);
            selector.selectNow();
        } else {
            selector.select(wait / MILLI);
        }
    }

    private void serve(SelectionKey key) throws IOException {
        if (!key.isValid()) {
            return;
        }
        if (key.isAcceptable()) {
            accept((ServerSocketChannel) key.channel());
        } else {
            ((ProxiedConnection) key.attachment()).serve(key);
        }
    }

    private void accept(ServerSocketChannel from) throws IOException {
        for (SocketChannel client = from.accept(); client != null; client = from.accept()) {
            accepted.incrementAndGet();
            ProxiedConnection connection = new ProxiedConnection(this, client);
            connections.add(connection);
            open = connections.size();
            connection.connect();
        }
    }

    private void listen() throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        channel.bind(listening, BACKLOG);
        channel.register(selector, SelectionKey.OP_ACCEPT);
        listener = channel;
    }

    private void stopListening() {
        ServerSocketChannel channel = listener;
        if (channel != null) {
            try {
                channel.close();
                selector.selectNow(); // a registered channel is closed for good at the next select
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        listener = null;
    }

    private void resetAll() {
        new ArrayList<>(connections).forEach(ProxiedConnection::reset);
    }

    // ---- for the connections, on the selector's thread

    InetSocketAddress target() {
        return target;
    }

    Selector selector() {
        return selector;
    }

    ByteBuffer buffer() {
        return buffer.clear();
    }

    /** Takes the first drop for a request that fits. */
    @Nullable
    ReplyDrop takeDrop(Predicate<byte[]> fits) {
        for (ReplyDrop drop : replyDrops) {
            if (fits.test(drop.request())) {
                replyDrops.remove(drop);
                return drop;
            }
        }
        return null;
    }

    boolean isSwallowing(Direction direction) {
        return swallowing[direction.ordinal()];
    }

    boolean isStalled(Direction direction) {
        return stalled[direction.ordinal()];
    }

    long delayNanos(Direction direction) {
        return delayNanos[direction.ordinal()];
    }

    void count(Direction direction, int read) {
        bytes.addAndGet(direction.ordinal(), read);
    }

    void at(long nanoTime, Runnable what) {
        timers.add(new Due(nanoTime, what));
    }

    void ended(ProxiedConnection connection) {
        connections.remove(connection);
        open = connections.size();
    }
}
