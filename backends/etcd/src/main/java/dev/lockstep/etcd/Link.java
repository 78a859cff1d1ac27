package dev.lockstep.etcd;

import dev.lockstep.etcd.proto.Etcd.AuthenticateRequest;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.DelayedCheck;
import dev.lockstep.spi.RequestObserver;
import dev.lockstep.spi.Scheduler;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection to the cluster: to one member at a time. Requests are sent once and answered by a future, which fails
 * with gRPC's status; the caller decides whether to try again. Safe for use by many threads; nothing blocks.
 */
final class Link {
    /*
     * Overview. All requests and streams go to one member, over one connection (a Connection), until it is given up: when a
     * request finds it unavailable or not serving such requests, or when one times out and nothing that was sent later
     * has been answered either, as with a partition or a member without quorum. Giving up a link fails all its pending
     * requests, and the next link goes to the next member: at once until each has been tried, then with the client's
     * backoff. So a hundred claims that fail together make one new connection.
     */
    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

    private final Settings settings;
    private final Members members;
    private final Scheduler scheduler;
    private final RequestObserver observer;
    private final Backoff backoff;
    private final long timeoutNanos;
    private final @Nullable Login login;
    private final AtomicLong lastContactNanos;
    private final DelayedCheck<Reply<?>> unanswered;
    private volatile @Nullable Connection link; // null until the next member may be tried; written under this
    private volatile int failures; // in a row; written under this
    private boolean closed; // guarded by this

    /** One connection to one member. */
    private record Connection(ManagedChannel channel, AtomicLong answeredNanos) {}

    Link(Settings settings, BackendContext context) {
        this.settings = settings;
        this.members = new Members(settings, context.clientName());
        this.scheduler = context.scheduler();
        this.observer = context.requests();
        this.backoff = context.retryBackoff();
        this.timeoutNanos = context.requestTimeout().toNanos();
        this.lastContactNanos = new AtomicLong(scheduler.nanoTime());
        this.unanswered = new DelayedCheck<>(scheduler, Reply::limit);
        String user = settings.user();
        Supplier<String> password = settings.password();
        this.login = user == null || password == null ? null : new Login(user, password, this::authenticate);
        connect();
    }

    Settings settings() {
        return settings;
    }

    /** When the last answered request was sent. */
    long lastContactNanos() {
        return lastContactNanos.get();
    }

    /** Sends a request; fails at the latest after the request timeout. */
    <Q, A> CompletableFuture<A> call(MethodDescriptor<Q, A> method, Q request) {
        return call(method, request, timeoutNanos);
    }

    /** Sends a request; fails at the latest after a time of its own. */
    <Q, A> CompletableFuture<A> call(MethodDescriptor<Q, A> method, Q request, long withinNanos) {
        if (login == null) {
            return send(method, request, "", withinNanos);
        }
        return login.token()
                .thenCompose(token -> send(method, request, token, withinNanos).exceptionallyCompose(failure -> {
                    if (!Failure.isTokenRefused(failure)) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    login.refused(token);
                    return login.token().thenCompose(fresh -> send(method, request, fresh, withinNanos));
                }));
    }

    /** Opens a stream. {@code answers} is notified when it ends. */
    <Q, A> CompletableFuture<StreamObserver<Q>> stream(MethodDescriptor<Q, A> method, StreamObserver<A> answers) {
        CompletableFuture<String> token = login == null ? CompletableFuture.completedFuture("") : login.token();
        return token.thenCompose(known -> {
            Connection current = link;
            return current == null
                    ? notConnected()
                    : CompletableFuture.completedFuture(ClientCalls.asyncBidiStreamingCall(
                            channel(current, known).newCall(method, CallOptions.DEFAULT), answers));
        });
    }

    /** A stream was refused for lack of permission: perhaps its token is too old. */
    void forgetToken() {
        if (login != null) {
            login.forget();
        }
    }

    private <Q, A> CompletableFuture<A> send(MethodDescriptor<Q, A> method, Q request, String token, long withinNanos) {
        Connection current = link;
        if (current == null) {
            return notConnected();
        }
        ClientCall<Q, A> call = channel(current, token).newCall(method, CallOptions.DEFAULT);
        Reply<A> reply = new Reply<>(current, method, call, withinNanos);
        ClientCalls.asyncUnaryCall(call, request, reply);
        unanswered.add(reply);
        return reply.answer;
    }

    /**
     * A pending request. It gets a timer only if it is not answered within a moment: gRPC's own deadline wakes two
     * threads for each request.
     */
    private final class Reply<A> implements StreamObserver<A> {
        private final Connection from;
        private final MethodDescriptor<?, A> method;
        private final ClientCall<?, A> call;
        private final long sentNanos = scheduler.nanoTime();
        private final long endNanos;
        private final CompletableFuture<A> answer = new CompletableFuture<>();

        Reply(Connection from, MethodDescriptor<?, A> method, ClientCall<?, A> call, long withinNanos) {
            this.from = from;
            this.method = method;
            this.call = call;
            this.endNanos = sentNanos + withinNanos;
        }

        @Override
        public void onNext(A value) {
            if (method != Rpc.LEASE_KEEP_ALIVE) { // a leader that has lost its majority answers these too
                answered(from, sentNanos);
            }
            if (!answer.isDone()) {
                observer.ended(Rpc.kind(method), sentNanos, null);
            }
            answer.complete(value);
        }

        @Override
        public void onError(Throwable failure) {
            failed(from, sentNanos, failure);
            if (!answer.isDone()) {
                observer.ended(Rpc.kind(method), sentNanos, failure);
            }
            answer.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            if (!answer.isDone()) { // an exception with its stack costs more than all the rest
                answer.completeExceptionally(
                        Status.INTERNAL.withDescription("no answer").asRuntimeException());
            }
        }

        void limit() {
            if (!answer.isDone()) {
                Scheduler.Timer timer = scheduler.schedule(endNanos - scheduler.nanoTime(), this::expire);
                answer.whenComplete((value, failure) -> timer.cancel());
            }
        }

        private void expire() {
            if (!answer.isDone()) {
                onError(Status.DEADLINE_EXCEEDED
                        .withDescription("no answer in time")
                        .asRuntimeException());
                call.cancel("no answer in time", null);
            }
        }
    }

    private static Channel channel(Connection link, String token) {
        if (token.isEmpty()) {
            return link.channel;
        }
        Metadata headers = new Metadata();
        headers.put(TOKEN, token);
        return ClientInterceptors.intercept(link.channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private CompletableFuture<String> authenticate(AuthenticateRequest credentials) {
        return send(Rpc.AUTHENTICATE, credentials, "", timeoutNanos)
                .thenApply(answer -> answer.getToken())
                .exceptionallyCompose(failure -> Failure.says(failure, "authentication is not enabled")
                        ? CompletableFuture.completedFuture("")
                        : CompletableFuture.failedFuture(failure));
    }

    private <T> CompletableFuture<T> notConnected() {
        return CompletableFuture.failedFuture(
                Status.UNAVAILABLE.withDescription("not connected").asRuntimeException());
    }

    private void answered(Connection from, long sent) {
        advance(from.answeredNanos, sent);
        advance(lastContactNanos, sent);
        if (failures != 0) {
            synchronized (this) {
                failures = 0;
            }
        }
    }

    private static void advance(AtomicLong latest, long nanos) {
        latest.accumulateAndGet(nanos, (known, candidate) -> candidate - known > 0 ? candidate : known);
    }

    private void failed(Connection from, long sent, Throwable failure) {
        switch (Failure.status(failure).getCode()) {
            case UNAVAILABLE -> giveUp(from);
            case DEADLINE_EXCEEDED -> {
                if (from.answeredNanos.get() - sent < 0) {
                    giveUp(from);
                }
            }
            default -> {
                if (Failure.isNotServedHere(failure)) {
                    giveUp(from);
                }
                // Otherwise the member answers.
            }
        }
    }

    private void giveUp(Connection failed) {
        synchronized (this) {
            if (link != failed) {
                return;
            }
            link = null;
            failures++;
            if (failures < members.count()) {
                connect();
            } else if (!closed) {
                scheduler.schedule(backoff.delay(failures - members.count() + 1).toNanos(), this::connect);
            }
        }
        // Last, since it fails all pending requests there, which may ask for the next link.
        failed.channel.shutdownNow();
    }

    private synchronized void connect() {
        if (!closed && link == null) {
            long longAgo = scheduler.nanoTime() - TimeUnit.DAYS.toNanos(1);
            link = new Connection(members.connectNext(), new AtomicLong(longAgo));
        }
    }

    /** Disconnects, and waits until nothing of gRPC runs any more. */
    void close(Duration atMost) {
        Connection last;
        synchronized (this) {
            closed = true;
            last = link;
            link = null;
        }
        if (last != null) {
            last.channel.shutdownNow();
        }
        members.close(atMost);
    }
}
