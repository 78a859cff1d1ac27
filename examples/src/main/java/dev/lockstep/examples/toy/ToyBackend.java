package dev.lockstep.examples.toy;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.Traits;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/** Locks in a {@link ToyStore}. No queue and no push at this engine, so waiters poll, and there are no fair locks. */
final class ToyBackend implements LockBackend {
    private static final Traits TRAITS = Traits.of(Duration.ofMillis(100));
    private static final int BATCH = 1_000;

    private final BackendContext context;
    private final ToyStore.Connection connection;
    private final ExecutorService io;
    private final Renewer<ToyGrant> renewer;
    private final AtomicLong lastContactNanos;

    ToyBackend(BackendContext context, ToyStore.Connection connection) {
        this.context = context;
        this.connection = connection;
        this.lastContactNanos = new AtomicLong(context.scheduler().nanoTime());
        this.io = Executors.newFixedThreadPool(2, task -> {
            Thread thread = new Thread(task, "toy-io-" + context.clientName());
            thread.setDaemon(true);
            return thread;
        });
        this.renewer = new Renewer<>(context, BATCH, LossReason.REVOKED, this::renew);
    }

    @Override
    public Traits traits() {
        return TRAITS;
    }

    @Override
    public Claim submit(ClaimRequest request) {
        ToyClaim claim = new ToyClaim(this, request);
        claim.start();
        return claim;
    }

    private CompletionStage<List<ToyGrant>> renew(List<ToyGrant> batch) {
        return call(
                DO_NOT_BLOCK,
                store -> batch.stream()
                        .filter(grant -> !store.renew(grant.key(), grant.owner(), context.ttl()))
                        .toList());
    }

    // ---------------------------------------------------------------- round trips

    /** One try of one request, in the calling thread. Notes that the engine was there when it was asked. */
    <T> T send(ToyStore.Request<T> request) throws IOException {
        long sent = scheduler().nanoTime();
        T answer = connection.send(request);
        lastContactNanos.accumulateAndGet(sent, (known, now) -> now - known > 0 ? now : known);
        return answer;
    }

    /** Runs a round trip in the calling thread if it may block, else on a thread of the backend's own. */
    void run(Duration blockAtMost, Runnable roundTrip) {
        if (!blockAtMost.isZero()) {
            roundTrip.run(); // a real client would set its socket timeout to blockAtMost
            return;
        }
        try {
            io.execute(roundTrip);
        } catch (RejectedExecutionException e) {
            // Closed meanwhile, and everything was released in one step.
        }
    }

    /** One try of one request, as a future. */
    private <T> CompletionStage<T> call(Duration blockAtMost, ToyStore.Request<T> request) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        run(blockAtMost, () -> {
            try {
                answer.complete(send(request));
            } catch (IOException | RuntimeException e) {
                answer.completeExceptionally(e);
            }
        });
        return answer;
    }

    /** Tries a request until it is answered, or until the ttl has passed and the engine has forgotten by itself. */
    <T> CompletionStage<T> callUntilAnswered(Duration blockAtMost, ToyStore.Request<T> request) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        long giveUpNanos = scheduler().nanoTime() + context.ttl().toNanos();
        tryUntilAnswered(blockAtMost, request, answer, giveUpNanos, 1);
        return answer;
    }

    private <T> void tryUntilAnswered(
            Duration blockAtMost,
            ToyStore.Request<T> request,
            CompletableFuture<T> answer,
            long giveUpNanos,
            int attempt) {
        call(blockAtMost, request).whenComplete((value, failure) -> {
            if (failure == null) {
                answer.complete(value);
            } else if (scheduler().nanoTime() - giveUpNanos >= 0) {
                answer.completeExceptionally(failure);
            } else {
                later(
                        context.retryBackoff().delay(attempt),
                        () -> tryUntilAnswered(DO_NOT_BLOCK, request, answer, giveUpNanos, attempt + 1));
            }
        });
    }

    /** Runs a task, which must not block, after a while. */
    void later(Duration delay, Runnable task) {
        scheduler().schedule(delay.toNanos(), task);
    }

    // ---------------------------------------------------------------- what claims and grants share

    BackendContext context() {
        return context;
    }

    Scheduler scheduler() {
        return context.scheduler();
    }

    Renewer<ToyGrant> renewer() {
        return renewer;
    }

    /** Neither namespaces nor names have control characters, so no two pairs share a key. */
    String key(String name) {
        return context.namespace() + '\n' + name;
    }

    // ---------------------------------------------------------------- operators

    @Override
    public long lastContactNanos() {
        return lastContactNanos.get();
    }

    @Override
    public CompletionStage<Void> ping() {
        return call(DO_NOT_BLOCK, store -> true).thenApply(unused -> null);
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return call(DO_NOT_BLOCK, store -> {
            ToyStore.Entry entry = store.find(key(name)).get(key(name));
            return entry == null ? LockInfo.free(name) : info(name, entry);
        });
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        int skip = key("").length();
        return call(
                DO_NOT_BLOCK,
                store -> store.find(key(prefix)).entrySet().stream()
                        .map((Map.Entry<String, ToyStore.Entry> entry) ->
                                info(entry.getKey().substring(skip), entry.getValue()))
                        .toList());
    }

    private static LockInfo info(String name, ToyStore.Entry entry) {
        LockInfo.Entry holder = LockInfo.Entry.of(LockMode.EXCLUSIVE, entry.holder());
        return LockInfo.of(name, List.of(holder.withToken(entry.token())), List.of());
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return call(DO_NOT_BLOCK, store -> store.delete(key(name), entry -> true));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return call(DO_NOT_BLOCK, store -> store.delete(key(name), entry -> entry.token() == token));
    }

    @Override
    public void close() {
        renewer.close();
        io.shutdownNow();
        try {
            send(store -> {
                store.releaseAll(context.clientId());
                return true;
            });
        } catch (IOException e) {
            // Remaining keys expire.
        }
    }
}
