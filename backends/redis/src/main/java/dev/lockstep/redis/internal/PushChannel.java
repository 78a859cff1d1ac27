package dev.lockstep.redis.internal;

import dev.lockstep.spi.Answers;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Retry;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPubSub;

/**
 * The server's messages to a client: one subscription, for as long as the client lives, with a thread that reads it. A
 * connection that is silent for too long is replaced.
 *
 * <p>Messages are lost while there is no connection; the listener is notified after each new subscription, and looks
 * for itself.
 */
public final class PushChannel implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PushChannel.class);

    /** Hears messages, on the channel's thread; must not block. */
    public interface Listener {
        /** A message: a word, the claim it is about, and what more there is. */
        void received(String word, String id, String[] more);

        /** There is a new subscription; messages before it may have been lost. */
        void subscribed();
    }

    private final Link link;
    private final BackendContext context;
    private final String channel;
    private final Listener listener;
    private final Thread thread;
    private final CompletableFuture<Void> firstSubscription = new CompletableFuture<>();
    private volatile @Nullable Subscription current;
    private volatile boolean closed;

    public PushChannel(Link link, BackendContext context, Listener listener) {
        this.link = link;
        this.context = context;
        this.channel = "lockstep:" + context.clientId();
        this.listener = listener;
        this.thread = new Thread(this::run, "lockstep-redis-push-" + context.clientName());
        thread.setDaemon(true);
    }

    /** Starts to listen, and waits for the first subscription; an interrupt does not end the wait, which is short. */
    void open() throws Failure {
        thread.start();
        scheduleCheck();
        if (!Answers.await(firstSubscription, context.requestTimeout())) {
            throw Failure.notSent(link.route().toString(), "the subscription was not confirmed in time", null);
        }
        try {
            firstSubscription.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof Failure failure
                    ? failure
                    : Failure.notSent(
                            link.route().toString(), "the subscription failed: " + e.getCause(), e.getCause());
        }
    }

    private void run() {
        Retry retry = Retry.endless(context);
        while (!closed) {
            if (listen()) {
                retry.succeeded();
            }
            if (!closed) {
                LockSupport.parkNanos(retry.delayNanos());
            }
        }
    }

    /** Listens for as long as a connection lives; returns whether the server confirmed the subscription. */
    private boolean listen() {
        Subscription subscription = null;
        try {
            Subscription made = new Subscription();
            subscription = made;
            link.listen(connection -> {
                made.read(connection);
                return true;
            });
        } catch (Failure e) {
            if (e.kind() == Failure.Kind.FINAL) {
                firstSubscription.completeExceptionally(e);
            }
            log.debug("Channel {}: the subscription ended", channel, e);
        } catch (RuntimeException | Error e) {
            firstSubscription.completeExceptionally(e);
            log.error("Channel {}: the subscription ended by an error; it is tried again", channel, e);
        }
        return subscription != null && subscription.confirmed;
    }

    /** Asks for a sign of life now and then, and gives up a connection that gave none since the last time. */
    private void scheduleCheck() {
        context.scheduler()
                .schedule(
                        context.requestTimeout().toNanos(),
                        () -> link.executeUpkeep(() -> {
                            Subscription known = current;
                            if (!closed) {
                                if (known != null) {
                                    known.check();
                                }
                                scheduleCheck();
                            }
                        }));
    }

    @Override
    public void close() {
        closed = true;
        Subscription known = current;
        if (known != null) {
            known.end();
        }
        LockSupport.unpark(thread);
    }

    /** One connection's time as the channel. */
    private final class Subscription extends JedisPubSub {
        private volatile @Nullable Connection connection;
        private volatile boolean confirmed;
        private volatile boolean heard = true;

        void read(Connection borrowed) {
            connection = borrowed;
            current = this;
            try {
                if (!closed) {
                    proceed(borrowed, channel);
                }
            } finally {
                borrowed.setBroken(); // it is subscribed, and nobody else must have it
                connection = null;
            }
        }

        @Override
        public void onSubscribe(String subscribed, int count) {
            confirmed = true;
            heard = true;
            firstSubscription.complete(null);
            if (closed) {
                end(); // it was ended before it had subscribed, and Jedis has connected it again
                return;
            }
            listener.subscribed();
        }

        @Override
        public void onMessage(String from, String message) {
            heard = true;
            String[] words = message.split(" ", 3);
            if (words.length >= 2) {
                String[] more = words.length == 3 ? words[2].split(" ", -1) : new String[0];
                try {
                    listener.received(words[0], words[1], more);
                } catch (RuntimeException e) {
                    // Any client can publish any message; the subscription continues.
                    log.warn("Channel {}: a message was not understood", channel, e);
                }
            }
        }

        @Override
        public void onPong(String pattern) {
            heard = true;
        }

        void check() {
            Connection known = connection;
            if (known == null) {
                return; // it has ended: a ping would connect it again
            }
            if (!heard) {
                end();
                return;
            }
            heard = false;
            try {
                if (confirmed) {
                    ping();
                }
            } catch (RuntimeException e) {
                end();
            }
            if (connection == null) {
                disconnect(known); // it has ended meanwhile, and the ping may have connected it again
            }
        }

        void end() {
            Connection known = connection;
            if (known != null) {
                disconnect(known);
            }
        }

        private void disconnect(Connection known) {
            try {
                JedisAccess.disconnect(known);
            } catch (IOException e) {
                log.debug("Channel {}: closing a connection failed", channel, e);
            }
        }
    }
}
