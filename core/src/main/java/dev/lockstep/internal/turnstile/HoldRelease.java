package dev.lockstep.internal.turnstile;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The release of a hold by its owner, from its beginning to the engine's answer. If the engine is to be asked, it is the
 * effect by which that is done. Used by the thread that releases, and by no other.
 */
final class HoldRelease implements Effect {
    final Hold hold;
    final Duration blockAtMost;
    private Duration rest = Duration.ZERO;
    private final @Nullable ReleaseBatch batch;
    private @Nullable CompletableFuture<Void> withdrawn;
    private @Nullable CompletableFuture<Boolean> answer;

    HoldRelease(Hold hold, Duration blockAtMost) {
        this(hold, blockAtMost, null);
    }

    /**
     * Makes the release of a hold.
     *
     * @param batch asks the engine, if it is to be asked; null to ask at once
     */
    HoldRelease(Hold hold, Duration blockAtMost, @Nullable ReleaseBatch batch) {
        this.hold = hold;
        this.blockAtMost = blockAtMost;
        this.batch = batch;
    }

    /** The engine keeps the grant held for the rest of a minimum time; zero to free it at once. */
    void leaveFor(Duration rest) {
        this.rest = rest;
    }

    Duration rest() {
        return rest;
    }

    /** The answer is waited for together with claims that are being withdrawn. */
    void waitAlsoFor(@Nullable CompletableFuture<Void> claims) {
        withdrawn = claims;
    }

    /** Whether its owner waits for more than the engine's answer, which must count as soon as it is there. */
    boolean waitsForMore() {
        return withdrawn != null;
    }

    @Override
    public void perform(Actions actions) {
        if (batch == null) {
            actions.release(this);
        } else {
            batch.add(this);
        }
    }

    /** The engine has been asked. */
    void asked(CompletableFuture<Boolean> engine) {
        CompletableFuture<Void> also = withdrawn;
        answer = also == null ? engine : engine.thenCombine(also, (known, nothing) -> known);
    }

    /** The engine's answer; null if it need not be asked, because the grant stays here. */
    @Nullable
    CompletableFuture<Boolean> answer() {
        return answer;
    }
}
