package dev.lockstep.internal.turnstile;

import dev.lockstep.spi.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The releases of several holds that the engine is to be asked about together. Used by the thread that releases, and by no
 * other. Each turnstile has decided that its grant is released; only the request is made here, in place of {@link
 * Actions#release}.
 */
final class ReleaseBatch {
    private final TurnstileContext client;
    private final Duration blockAtMost;
    private final List<HoldRelease> releases = new ArrayList<>();

    ReleaseBatch(TurnstileContext client, Duration blockAtMost) {
        this.client = client;
        this.blockAtMost = blockAtMost;
    }

    Duration blockAtMost() {
        return blockAtMost;
    }

    /** A turnstile has decided to release the grant of a hold. */
    void add(HoldRelease release) {
        releases.add(release);
    }

    /** Asks the engine. */
    void send() {
        List<HoldRelease> together = new ArrayList<>(releases.size());
        for (HoldRelease release : releases) {
            Actions actions = release.hold.turnstile.actions;
            if (Actions.mayReleaseTogether(release)) {
                together.add(release);
            } else {
                actions.release(release);
            }
        }
        if (together.isEmpty()) {
            return;
        }
        List<CompletableFuture<Boolean>> answers = request(together);
        for (int i = 0; i < together.size(); i++) {
            HoldRelease release = together.get(i);
            release.hold.turnstile.actions.follow(release, answers.get(i));
        }
    }

    private List<CompletableFuture<Boolean>> request(List<HoldRelease> together) {
        List<CompletableFuture<Boolean>> answers = new ArrayList<>(together.size());
        try {
            List<Grant> grants = new ArrayList<>(together.size());
            together.forEach(release -> grants.add(release.hold.passage.heldGrant()));
            for (CompletionStage<Boolean> answer : client.backend().releaseAll(grants, blockAtMost)) {
                answers.add(answer.toCompletableFuture());
            }
        } catch (RuntimeException | Error e) {
            while (answers.size() < together.size()) {
                answers.add(CompletableFuture.failedFuture(e));
            }
        }
        return answers;
    }
}
