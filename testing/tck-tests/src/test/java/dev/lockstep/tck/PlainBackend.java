package dev.lockstep.tck;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Renewer;
import dev.lockstep.spi.Traits;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A backend for {@link PlainServer}: about the smallest that keeps the contract. One thread does all its I/O. */
final class PlainBackend implements LockBackend {
    private static final Traits TRAITS = Traits.of(Duration.ofMillis(50));
    private static final long POLL_NANOS = 10_000_000;

    private final BackendContext context;
    private final PlainWire wire;
    private final ExecutorService io;
    private final Renewer<PlainGrant> renewer;
    private final Set<CompletableFuture<?>> unanswered = ConcurrentHashMap.newKeySet();
    private volatile long lastContactNanos;

    PlainBackend(BackendContext context, PlainWire wire) {
        this.context = context;
        this.wire = wire;
        this.io = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "plain-io-" + context.clientName());
            thread.setDaemon(true);
            return thread;
        });
        this.renewer = new Renewer<>(context, 100, LossReason.REVOKED, this::renew);
        wire.timeout(context.requestTimeout());
        try {
            request("ping");
        } catch (IOException e) {
            io.shutdown();
            throw new LockUnavailableException(null, "The plain engine cannot be reached.", e);
        }
    }

    @Override
    public Traits traits() {
        return TRAITS;
    }

    private long nanoTime() {
        return context.scheduler().nanoTime();
    }

    private String ttl() {
        return Long.toString(context.ttl().toNanos());
    }

    private String[] request(String... words) throws IOException {
        long sent = nanoTime();
        String[] answer = wire.call(words);
        lastContactNanos = sent;
        return answer;
    }

    /** Asks until there is an answer, or for a time. */
    private <T> CompletableFuture<T> ask(Duration limit, Function<String[], T> convert, String... words) {
        CompletableFuture<T> result = new CompletableFuture<>();
        unanswered.add(result);
        result.whenComplete((done, error) -> unanswered.remove(result));
        tryOnce(result, nanoTime() + limit.toNanos(), 1, convert, words);
        return result;
    }

    private <T> void tryOnce(
            CompletableFuture<T> result, long endNanos, int attempt, Function<String[], T> convert, String... words) {
        onIo(() -> {
            try {
                result.complete(convert.apply(request(words)));
            } catch (IOException e) {
                long delay = context.retryBackoff().delay(attempt).toNanos();
                if (nanoTime() + delay - endNanos >= 0) {
                    result.completeExceptionally(new LockUnavailableException(null, "No answer to " + words[0], e));
                } else {
                    context.scheduler().schedule(delay, () -> tryOnce(result, endNanos, attempt + 1, convert, words));
                }
            }
        });
    }

    private void onIo(Runnable task) {
        if (!io.isShutdown()) {
            io.execute(task);
        }
    }

    // ---------------------------------------------------------------- claims and grants

    @Override
    public Claim submit(ClaimRequest request) {
        PlainClaim claim = new PlainClaim(request);
        claim.tryIn(request.mayBarge() ? 0 : POLL_NANOS);
        return claim;
    }

    private final class PlainClaim implements Claim {
        private final ClaimRequest request;
        private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        private volatile boolean withdrawn;
        private volatile boolean mustWait;
        private int failures; // only touched by the I/O thread, as is the next
        private @Nullable PlainGrant grant;

        PlainClaim(ClaimRequest request) {
            this.request = request;
            unanswered.add(outcome);
            outcome.whenComplete((done, error) -> unanswered.remove(outcome));
        }

        @Override
        public CompletionStage<Outcome> outcome() {
            return outcome;
        }

        private void tryIn(long delayNanos) {
            if (delayNanos == 0) {
                onIo(this::tryNow);
            } else {
                context.scheduler().schedule(delayNanos, () -> onIo(this::tryNow));
            }
        }

        private void tryNow() {
            if (withdrawn) {
                return;
            }
            long sent = nanoTime();
            try {
                String[] answer = request(
                        "take", context.namespace(), request.name(), request.claimId(), ttl(), info(request.holder()));
                if (answer[0].equals("granted")) {
                    grant = new PlainGrant(request, Long.parseLong(answer[1]), Renewer.deadline(sent, context.ttl()));
                    renewer.register(grant);
                    outcome.complete(new Outcome.Granted(grant));
                } else if (request.mayWait()) {
                    failures = 0;
                    if (!mustWait) {
                        mustWait = true;
                        request.listener().waiting();
                    }
                    tryIn(POLL_NANOS + ThreadLocalRandom.current().nextLong(POLL_NANOS));
                } else {
                    outcome.complete(Outcome.Busy.INSTANCE);
                }
            } catch (IOException e) {
                tryIn(context.retryBackoff().delay(++failures).toNanos());
            }
        }

        @Override
        public boolean mustWait() {
            return mustWait;
        }

        @Override
        public CompletionStage<Void> withdraw(Duration blockAtMost) {
            withdrawn = true;
            onIo(() -> {
                if (grant != null) {
                    renewer.unregister(grant);
                }
            });
            return free(request).handle((held, error) -> null);
        }
    }

    private CompletableFuture<Boolean> free(ClaimRequest request) {
        return ask(
                context.ttl(),
                answer -> Boolean.valueOf(answer[0]),
                "free",
                context.namespace(),
                request.name(),
                request.claimId());
    }

    private final class PlainGrant extends AbstractGrant {
        private final ClaimRequest request;

        PlainGrant(ClaimRequest request, long token, long validUntilNanos) {
            super(request.listener(), token, validUntilNanos);
            this.request = request;
        }

        @Override
        public CompletionStage<Boolean> release(Duration blockAtMost) {
            renewer.unregister(this);
            return free(request);
        }
    }

    private CompletionStage<List<PlainGrant>> renew(List<PlainGrant> batch) {
        List<String> words = new ArrayList<>(List.of("renew", ttl()));
        for (PlainGrant grant : batch) {
            words.addAll(List.of(context.namespace(), grant.request.name(), grant.request.claimId()));
        }
        CompletableFuture<List<PlainGrant>> gone = new CompletableFuture<>();
        onIo(() -> {
            try {
                List<String> owners = Arrays.asList(request(words.toArray(String[]::new)));
                gone.complete(batch.stream()
                        .filter(grant -> owners.contains(grant.request.claimId()))
                        .toList());
            } catch (IOException e) {
                gone.completeExceptionally(e);
            }
        });
        return gone;
    }

    // ---------------------------------------------------------------- operators

    private static String info(HolderInfo holder) {
        return PlainServer.encode(
                holder.client(),
                holder.host(),
                Long.toString(holder.pid()),
                holder.thread(),
                holder.since().toString(),
                Boolean.toString(holder.sticky()));
    }

    private static List<LockInfo> infos(String[] answer) {
        List<LockInfo> found = new ArrayList<>();
        for (int i = 0; i + 2 < answer.length; i += 3) {
            String[] info = PlainServer.decode(answer[i + 2]);
            HolderInfo holder = HolderInfo.of(info[0], info[1], Long.parseLong(info[2]))
                    .withThread(info[3])
                    .withSince(Instant.parse(info[4]))
                    .withSticky(Boolean.parseBoolean(info[5]));
            LockInfo.Entry entry =
                    LockInfo.Entry.of(LockMode.EXCLUSIVE, holder).withToken(Long.parseLong(answer[i + 1]));
            found.add(LockInfo.of(answer[i], List.of(entry), List.of()));
        }
        return found;
    }

    @Override
    public long lastContactNanos() {
        return lastContactNanos;
    }

    @Override
    public CompletionStage<Void> ping() {
        return ask(context.requestTimeout(), answer -> answer, "ping").thenAccept(answer -> {});
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return list(name)
                .thenApply(all -> all.stream()
                        .filter(info -> info.name().equals(name))
                        .findAny()
                        .orElseGet(() -> LockInfo.free(name)));
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return ask(context.requestTimeout(), PlainBackend::infos, "list", context.namespace(), prefix);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return ask(context.requestTimeout(), answer -> Boolean.valueOf(answer[0]), "force", context.namespace(), name);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return ask(
                context.requestTimeout(),
                answer -> Boolean.valueOf(answer[0]),
                "force",
                context.namespace(),
                name,
                Long.toString(token));
    }

    @Override
    public void close() {
        renewer.close();
        io.shutdown();
        try {
            wire.close();
        } catch (IOException e) {
            // It is gone either way.
        }
        LockUnavailableException closed = new LockUnavailableException(null, "The client was closed.");
        unanswered.forEach(future -> future.completeExceptionally(closed));
    }
}
