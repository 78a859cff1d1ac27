package dev.lockstep.servers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** One client's connection through a {@link TcpProxy}. All its methods run on the proxy's thread. */
final class ProxiedConnection {
    /** Beyond this a pipe stops reading, so that a sink that does not read slows its source down. */
    private static final int MAX_QUEUED_BYTES = 4 * 1024 * 1024;

    private final ProxyLoop proxy;
    private final SocketChannel client;
    private final SocketChannel server;
    private final Pipe requests;
    private final Pipe replies;

    /** A reply was dropped: everything that follows to the client is swallowed too. */
    private boolean silenced;

    /** Bytes were swallowed: the streams do not fit together any more. */
    private boolean broken;

    /** The reply to drop on this connection, once its request has passed. */
    private ProxyLoop.@Nullable ReplyDrop armed;

    ProxiedConnection(ProxyLoop proxy, SocketChannel client) throws IOException {
        this.proxy = proxy;
        this.client = client;
        this.server = SocketChannel.open();
        this.requests = new Pipe(proxy.requests, client, server);
        this.replies = new Pipe(proxy.replies, server, client);
    }

    void connect(ProxyLoop.Destination destination) {
        try {
            InetSocketAddress target = destination.of(client);
            for (SocketChannel channel : new SocketChannel[] {client, server}) {
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.register(proxy.selector(), 0, this);
            }
            if (proxy.requests.swallowing) {
                broken = true; // the first packet of this connection never arrives
                interest();
            } else if (server.connect(target)) {
                interest();
            } else {
                key(server).interestOps(SelectionKey.OP_CONNECT);
            }
        } catch (IOException e) {
            reset();
        }
    }

    void serve(SelectionKey key) {
        try {
            if (key.isConnectable()) {
                server.finishConnect();
            }
            if (key.isReadable()) {
                (key.channel() == client ? requests : replies).read();
            }
            if (key.isValid() && key.isWritable()) {
                (key.channel() == client ? replies : requests).flush();
            }
            interest();
        } catch (IOException e) {
            reset();
        }
    }

    /** Whether the server has not ended its side. */
    boolean isServed() {
        return !replies.sourceEnded;
    }

    /** Ends both sides at once, as if the peer had crashed. */
    void reset() {
        for (SocketChannel channel : new SocketChannel[] {client, server}) {
            try {
                if (channel.isOpen()) {
                    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                }
            } catch (IOException e) {
                // It was not connected: nobody to tell.
            }
            close(channel);
        }
        proxy.ended(this);
    }

    /** Loses what is on its way in a direction that is swallowed from now on. */
    void dropQueued() {
        requests.dropQueued();
        replies.dropQueued();
    }

    /** Continues after a fault, or ends because of it. */
    void heal() {
        if (broken) {
            reset();
        } else {
            armed = null;
            requests.flushAndListen();
            replies.flushAndListen();
        }
    }

    private void interest() {
        if (requests.done && replies.done) {
            close(client);
            close(server);
            proxy.ended(this);
        } else if (client.isOpen() && server.isOpen()) {
            boolean connected = server.isConnected();
            key(client).interestOps(operations(requests, replies, connected || broken));
            if (connected) {
                key(server).interestOps(operations(replies, requests, true));
            }
        }
    }

    private static int operations(Pipe reading, Pipe writing, boolean mayRead) {
        return (mayRead && reading.mayRead() ? SelectionKey.OP_READ : 0)
                | (writing.blocked ? SelectionKey.OP_WRITE : 0);
    }

    private SelectionKey key(SocketChannel channel) {
        SelectionKey key = channel.keyFor(proxy.selector());
        if (key == null) {
            throw new IllegalStateException("not registered: " + channel);
        }
        return key;
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // Closed is closed.
        }
    }

    /** A request has come: is it one whose reply must be lost? */
    private void lookAtRequest(ByteBuffer read) {
        ProxyLoop.ReplyDrop drop = proxy.takeDrop(wanted -> wanted.hasRemaining() && contains(read, wanted));
        if (drop != null) {
            armed = drop;
        }
    }

    /** A reply has come: must it be lost? */
    private boolean isReplyDropped() {
        ProxyLoop.ReplyDrop drop = armed;
        if (drop == null) {
            drop = proxy.takeDrop(wanted -> !wanted.hasRemaining());
        }
        if (drop != null) {
            armed = null;
            silenced = true;
            proxy.at(System.nanoTime() + drop.silenceNanos(), this::reset);
            drop.done().completeAsync(() -> null);
        }
        return silenced;
    }

    private static boolean contains(ByteBuffer text, ByteBuffer wanted) {
        for (int from = text.position(); from + wanted.remaining() <= text.limit(); from++) {
            if (text.slice(from, wanted.remaining()).equals(wanted)) {
                return true;
            }
        }
        return false;
    }

    /** An item on its way: bytes, or the end of the stream, or a reset. */
    private record Parcel(long dueNanos, ByteBuffer bytes, End end) {}

    private enum End {
        NONE,
        FINISHED,
        RESET
    }

    /** One direction of the connection. */
    private final class Pipe {
        private final ProxyLane lane;
        private final SocketChannel source;
        private final SocketChannel sink;
        private final Queue<Parcel> queue = new ArrayDeque<>();
        private int queuedBytes;
        private boolean sourceEnded;

        /** The sink accepts no more for now. */
        private boolean blocked;

        /** A timer for the head of the queue is set. */
        private boolean timed;

        /** The end of the stream was passed on. */
        private boolean done;

        Pipe(ProxyLane lane, SocketChannel source, SocketChannel sink) {
            this.lane = lane;
            this.source = source;
            this.sink = sink;
        }

        boolean mayRead() {
            return !sourceEnded && queuedBytes < MAX_QUEUED_BYTES;
        }

        void read() throws IOException {
            ByteBuffer buffer = proxy.buffer();
            End end = End.NONE;
            try {
                int read = source.read(buffer);
                if (read < 0) {
                    end = End.FINISHED;
                } else {
                    lane.bytes.addAndGet(read);
                }
            } catch (IOException e) {
                end = End.RESET;
            }
            buffer.flip();
            sourceEnded = end != End.NONE;
            if (isSwallowed(buffer)) {
                broken = true;
                return;
            }
            ByteBuffer bytes =
                    ByteBuffer.allocate(buffer.remaining()).put(buffer).flip();
            queue.add(new Parcel(System.nanoTime() + lane.delayNanos, bytes, end));
            queuedBytes += bytes.remaining();
            flush();
        }

        private boolean isSwallowed(ByteBuffer read) {
            if (this == requests) {
                lookAtRequest(read);
                return lane.swallowing;
            }
            return isReplyDropped() || lane.swallowing;
        }

        /** Passes on what is due, and comes back for the rest. */
        void flush() throws IOException {
            blocked = false;
            while (!queue.isEmpty() && !lane.stalled) {
                Parcel head = queue.element();
                if (head.dueNanos() - System.nanoTime() > 0) {
                    wakeAt(head.dueNanos());
                    return;
                }
                queuedBytes -= sink.write(head.bytes());
                if (head.bytes().hasRemaining()) {
                    blocked = true;
                    return;
                }
                queue.remove();
                end(head.end());
            }
        }

        private void wakeAt(long dueNanos) {
            if (!timed) {
                timed = true;
                proxy.at(dueNanos, () -> {
                    timed = false;
                    flushAndListen();
                });
            }
        }

        private void end(End end) throws IOException {
            if (end == End.RESET) {
                reset();
            } else if (end == End.FINISHED) {
                done = true;
                sink.shutdownOutput();
            }
        }

        void flushAndListen() {
            try {
                if (sink.isOpen() && sink.isConnected()) {
                    flush();
                    interest();
                }
            } catch (IOException e) {
                reset();
            }
        }

        void dropQueued() {
            if (lane.swallowing && !queue.isEmpty()) {
                queue.clear();
                queuedBytes = 0;
                broken = true;
            }
        }
    }
}
