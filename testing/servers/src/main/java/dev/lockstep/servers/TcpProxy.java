package dev.lockstep.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/*
 * Overview. One thread and one selector serve all connections. A connection is two pipes, one per direction; a pipe reads
 * from its source, stamps what it read with the time at which it may leave, and writes it to its sink in that order. So
 * bytes are late but not slow: many are on their way at once. The end of a stream and a reset travel through the same
 * queue. Faults are flags that only the selector's thread changes: a caller hands it a task and waits until that is done,
 * so that a fault is in force when the call that asked for it returns.
 *
 * TCP loses no bytes inside a stream, so a connection that had bytes swallowed cannot continue: it is reset when its
 * fault ends, as a real one would have been by its peers.
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

    private final ProxyLoop loop;
    private final String destination;
    private final AtomicBoolean closed = new AtomicBoolean();

    private TcpProxy(ProxyLoop loop, String destination) {
        this.loop = loop;
        this.destination = destination;
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
        return to(FreePorts.address(port));
    }

    /**
     * Starts a proxy on this machine in front of a server anywhere.
     *
     * @param server the server; nothing needs to listen there yet
     * @return the proxy, on a loopback port of its own
     */
    public static TcpProxy to(InetSocketAddress server) {
        return to(server.toString(), client -> server);
    }

    /** Starts a proxy in front of what each client chooses. */
    static TcpProxy to(String name, ProxyLoop.Destination destination) {
        try {
            ProxyLoop loop = new ProxyLoop(FreePorts.address(FreePorts.next()), destination);
            loop.start();
            return new TcpProxy(loop, name);
        } catch (IOException e) {
            throw new UncheckedIOException("no proxy to " + name, e);
        }
    }

    /**
     * The loopback port that clients connect to.
     *
     * @return the port, the same after {@link #cut} and {@link #heal}
     */
    public int port() {
        return loop.listening.getPort();
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
        loop.submit(() -> lane(direction).delayNanos = delay.toNanos());
    }

    /** Resets all connections and lets clients connect again at once. */
    public void resetConnections() {
        loop.submit(loop::resetAll);
    }

    /** Resets all connections and refuses new ones, as if no process listened. */
    public void cut() {
        loop.submit(() -> {
            loop.stopListening();
            loop.resetAll();
        });
    }

    /** Swallows everything in both directions, the ends of streams included: a partition, without an error. */
    public void blackHole() {
        loop.submit(() -> {
            loop.requests.swallowing = true;
            loop.replies.swallowing = true;
            loop.connections().forEach(ProxiedConnection::dropQueued);
        });
    }

    /** Swallows all replies; requests still reach the server. */
    public void dropReplies() {
        loop.submit(() -> {
            loop.replies.swallowing = true;
            loop.connections().forEach(ProxiedConnection::dropQueued);
        });
    }

    /**
     * Holds back one direction. Nothing is lost: {@link #heal} lets it all through, as after a partition so short that
     * connections outlive it.
     *
     * @param direction which
     */
    public void stall(Direction direction) {
        loop.submit(() -> lane(direction).stalled = true);
    }

    /**
     * Loses the next reply on any connection, and resets that connection.
     *
     * @return done when a reply was lost
     */
    public CompletableFuture<Void> dropNextReply() {
        return drop("", Duration.ZERO);
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
        return drop(text, silence);
    }

    private CompletableFuture<Void> drop(String text, Duration silence) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        ByteBuffer request = StandardCharsets.UTF_8.encode(text);
        loop.submit(() -> loop.replyDrops().add(new ProxyLoop.ReplyDrop(request, silence.toNanos(), done)));
        return done;
    }

    /** Ends every fault except the delay. Connections that lost bytes are reset; the others continue. */
    public void heal() {
        loop.submit(() -> {
            loop.requests.heal();
            loop.replies.heal();
            loop.replyDrops().clear();
            loop.connections().forEach(ProxiedConnection::heal);
            loop.listenAgain();
        });
    }

    /**
     * How many connections were accepted since the start.
     *
     * @return a count that only rises
     */
    public long acceptedConnections() {
        return loop.accepted.get();
    }

    /**
     * How many connections there are now.
     *
     * @return those that neither side has ended
     */
    public int openConnections() {
        return loop.openConnections();
    }

    /**
     * How many connections there are now that the server has not ended.
     *
     * @return those that cost the server something; a client that forgets to end its side of the others is not counted
     */
    public int servedConnections() {
        AtomicInteger count = new AtomicInteger();
        loop.submit(() -> count.set((int)
                loop.connections().stream().filter(ProxiedConnection::isServed).count()));
        return count.get();
    }

    /**
     * How many bytes came in, swallowed ones included.
     *
     * @param direction from which side
     * @return a count that only rises
     */
    public long bytes(Direction direction) {
        return lane(direction).bytes.get();
    }

    /** Resets all connections, stops listening and ends the thread. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            loop.close();
            FreePorts.giveBack(port());
        }
    }

    @Override
    public String toString() {
        return loop.listening + " -> " + destination;
    }

    private ProxyLane lane(Direction direction) {
        return direction == Direction.REQUESTS ? loop.requests : loop.replies;
    }
}
