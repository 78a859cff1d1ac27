package dev.lockstep.etcd;

import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The threads that gRPC uses for one client: an event loop, and one that looks up host names. gRPC's own are shared by the
 * whole JVM and end a second or more after the last client was closed; these end with their client. Safe for use by many
 * threads.
 */
final class GrpcThreads {
    /** Logs a line about itself when the first connection is made. Held here, since loggers can be collected. */
    private static final Logger TCP_METRICS = Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.TcpMetrics");

    static {
        if (TCP_METRICS.getLevel() == null) {
            TCP_METRICS.setLevel(Level.WARNING);
        }
    }

    private final String clientName;
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final EventLoopGroup events;
    private final ThreadPoolExecutor lookups;

    GrpcThreads(String clientName) {
        this.clientName = clientName;
        this.events = Epoll.isAvailable()
                ? new EpollEventLoopGroup(1, (ThreadFactory) task -> thread("events", task))
                : new NioEventLoopGroup(1, (ThreadFactory) task -> thread("events", task));
        this.lookups = new ThreadPoolExecutor(
                1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> thread("lookups", task));
        lookups.allowCoreThreadTimeOut(true);
    }

    private Thread thread(String purpose, Runnable task) {
        Thread thread = new Thread(task, "lockstep-etcd-" + purpose + "-" + clientName);
        thread.setDaemon(true);
        threads.removeIf(old -> old.getState() == Thread.State.TERMINATED);
        threads.add(thread);
        return thread;
    }

    /** Has a connection use these threads and no others. */
    NettyChannelBuilder use(NettyChannelBuilder builder) {
        return builder.directExecutor()
                .offloadExecutor(lookups)
                .eventLoopGroup(events)
                .channelType(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class);
    }

    /** Ends them, with every connection that is left, and waits for their end. An interrupt is kept for later. */
    void close(Duration atMost) {
        long endNanos = System.nanoTime() + atMost.toNanos();
        events.shutdownGracefully(0, atMost.toMillis(), TimeUnit.MILLISECONDS);
        lookups.shutdownNow();
        boolean interrupted = Thread.interrupted();
        for (Thread thread : threads) {
            interrupted |= join(thread, endNanos);
        }
        interrupted |= endNettysOwn(endNanos);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Netty reports the end of an event loop on a thread of its own, which would stay for another second. An interrupt ends
     * it if it has nothing to do, and is ignored otherwise.
     */
    private static boolean endNettysOwn(long endNanos) {
        CountDownLatch running = new CountDownLatch(1);
        Thread[] own = new Thread[1];
        GlobalEventExecutor.INSTANCE.execute(() -> {
            own[0] = Thread.currentThread();
            running.countDown();
        });
        try {
            if (running.await(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                own[0].interrupt();
                long left = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
                own[0].join(Math.max(1, Math.min(left, 1000))); // more may come meanwhile, from other clients
            }
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    /** Waits for a thread's end; true if it was interrupted meanwhile. */
    private static boolean join(Thread thread, long endNanos) {
        boolean interrupted = false;
        long left;
        while (thread != Thread.currentThread()
                && thread.isAlive()
                && (left = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime())) > 0) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        return interrupted;
    }
}
