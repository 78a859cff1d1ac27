package dev.lockstep.torture;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/** A grant with the bug of its backend. Thread-safe. */
final class BuggyGrant implements Grant {
    private static final int COARSE = 16;

    private final BuggyBackend backend;
    private final ClaimRequest request;
    private final Grant sound;
    private volatile long token;
    private volatile long validUntilNanos; // 0 unless it has ended at the engine

    BuggyGrant(BuggyBackend backend, ClaimRequest request, Grant sound) {
        this.backend = backend;
        this.request = request;
        this.sound = sound;
    }

    Grant sound() {
        return sound;
    }

    private boolean has(PlantedBug bug) {
        return backend.bug() == bug;
    }

    /** Ends it at the engine; the holder will believe that it begins only now. */
    void endNow() {
        sound.release(LockBackend.DO_NOT_BLOCK);
        validUntilNanos = backend.context().scheduler().nanoTime()
                + backend.context().ttl().toNanos();
    }

    @Override
    public long token() {
        if (token == 0) {
            token = firstToken();
        }
        return token;
    }

    private long firstToken() {
        return switch (backend.bug()) {
            case TOKEN_RESET -> backend.state().afterReset(sound.token());
            case ONE_TOKEN_FOR_ALL -> 1;
            case TOKEN_TWICE -> sound.token() / COARSE + 1;
            case READER_TOKEN_TOO_LOW -> isReader() ? 1 : sound.token() + 1;
            case TERM_NUMBER_TWICE -> isTerm() ? sound.token() / COARSE + 1 : sound.token();
            default -> sound.token();
        };
    }

    private boolean isReader() {
        return request.mode() == LockMode.SHARED && request.limit().isEmpty();
    }

    private boolean isTerm() {
        return request.holder().thread().startsWith("election");
    }

    @Override
    public CompletionStage<List<Integer>> slots() {
        int limit = request.limit().orElse(1);
        return switch (backend.bug()) {
            case SLOT_TWICE ->
                CompletableFuture.completedFuture(
                        IntStream.range(0, request.permits()).boxed().toList());
            case PERMIT_BEYOND_LIMIT ->
                sound.slots()
                        .thenApply(slots -> slots.stream()
                                .map(slot -> slot % limit)
                                .sorted()
                                .toList());
            default -> sound.slots();
        };
    }

    @Override
    public long validUntilNanos() {
        long ttl = backend.context().ttl().toNanos();
        if (validUntilNanos != 0) {
            return validUntilNanos;
        }
        return switch (backend.bug()) {
            case NO_DEADLINE -> backend.context().scheduler().nanoTime() + ttl;
            case LATE_DEADLINE -> sound.validUntilNanos() + ttl;
            default -> sound.validUntilNanos();
        };
    }

    @Override
    public boolean isWanted() {
        return sound.isWanted();
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        boolean forgotten =
                (has(PlantedBug.RELEASE_FORGOTTEN) && backend.state().isTurn(50))
                        || (has(PlantedBug.PERMIT_NOT_RETURNED)
                                && request.limit().isPresent()
                                && backend.state().isTurn(20));
        if (validUntilNanos != 0 || forgotten) {
            return CompletableFuture.completedFuture(true);
        }
        CompletionStage<Boolean> released = sound.release(blockAtMost);
        return has(PlantedBug.RELEASE_WITHOUT_OWNER_CHECK) ? released.thenCompose(this::freeWhoever) : released;
    }

    private CompletionStage<Boolean> freeWhoever(boolean held) {
        if (held) {
            return CompletableFuture.completedFuture(true);
        }
        backend.state().silence(request.name(), true);
        return backend.sound()
                .forceRelease(request.name())
                .whenComplete((freed, failure) -> backend.state().silence(request.name(), false));
    }

    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        backend.waits(request.name(), wait);
        return sound.recordWait(wait);
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        return sound.downgrade();
    }
}
