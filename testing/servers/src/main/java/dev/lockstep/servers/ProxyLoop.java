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
import java.util.ArrayList;
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
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The one thread of a {@link TcpProxy}: it accepts, selects, keeps time, and carries out what other threads ask for. */
final class ProxyLoop {
    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int BACKLOG = 1_024;
    private static final long MILLI = 1_000_000;

    /** Ends a test that would hang: the loop answers within milliseconds, on a busy machine sooner than this. */
    private static final long ANSWER_MILLIS = 20_000;

    private static final long PORT_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long PORT_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    final InetSocketAddress listening;
    final ProxyLane requests = new ProxyLane();
    final ProxyLane replies = new ProxyLane();
    final AtomicLong accepted = new AtomicLong();
    private final Destination destination;
    private final Selector selector;
    private final Thread thread;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private volatile int open;
    private volatile boolean closed;

    // The following fields belong to the thread.
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final Set<ProxiedConnection> connections = new HashSet<>();
    private final PriorityQueue<Due> timers = new PriorityQueue<>(Comparator.comparingLong(Due::when));
    private final List<ReplyDrop> replyDrops = new ArrayList<>();
    private @Nullable ServerSocketChannel listener;

    /** Where clients go. */
    @FunctionalInterface
    interface Destination {
        /**
         * Where one client goes, asked once and before anything else is read from it.
         *
         * @param client its connection, in blocking mode
         * @throws IOException if it goes nowhere
         */
        InetSocketAddress of(SocketChannel client) throws IOException;
    }

    private record Due(long when, Runnable what) {}

    /**
     * A reply that must be lost.
     *
     * @param request the bytes that its request has in it; none: any reply
     * @param silenceNanos how long the connection is silent before it is reset
     * @param done completed when the reply was lost
     */
    record ReplyDrop(ByteBuffer request, long silenceNanos, CompletableFuture<Void> done) {}

    ProxyLoop(InetSocketAddress listening, Destination destination) throws IOException {
        this.listening = listening;
        this.destination = destination;
        this.selector = Selector.open();
        listen();
        thread = new Thread(this::run, "lockstep-proxy-" + listening.getPort());
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Has a task done by the thread, and returns when it is. */
    void submit(Runnable task) {
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
        done.orTimeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS).join();
    }

    int openConnections() {
        return open;
    }

    void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join(ANSWER_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

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
            throw new UncheckedIOException("proxy on " + listening, e);
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
            connection.connect(destination);
        }
    }

    private void listen() throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(listening, BACKLOG);
            channel.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        listener = channel;
    }

    // ---- for tasks and connections, on the thread

    /**
     * Listens again on the port that it had. A process that another thread started when the port was closed has inherited
     * the socket, and holds the port until it runs its own program.
     */
    void listenAgain() {
        long start = System.nanoTime();
        while (listener == null) {
            try {
                listen();
            } catch (IOException e) {
                if (System.nanoTime() - start > PORT_PATIENCE_NANOS) {
                    throw new UncheckedIOException("cannot listen on " + listening + " again", e);
                }
                LockSupport.parkNanos(PORT_LOOK_NANOS);
            }
        }
    }

    void stopListening() {
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

    void resetAll() {
        connections().forEach(ProxiedConnection::reset);
    }

    List<ProxiedConnection> connections() {
        return new ArrayList<>(connections);
    }

    List<ReplyDrop> replyDrops() {
        return replyDrops;
    }

    /** Takes the first drop whose request fits. */
    @Nullable
    ReplyDrop takeDrop(Predicate<ByteBuffer> fits) {
        for (ReplyDrop drop : replyDrops) {
            if (fits.test(drop.request())) {
                replyDrops.remove(drop);
                return drop;
            }
        }
        return null;
    }

    Selector selector() {
        return selector;
    }

    /** An empty buffer, good until the next call. */
    ByteBuffer buffer() {
        return buffer.clear();
    }

    void at(long nanoTime, Runnable what) {
        timers.add(new Due(nanoTime, what));
    }

    void ended(ProxiedConnection connection) {
        connections.remove(connection);
        open = connections.size();
    }
}
