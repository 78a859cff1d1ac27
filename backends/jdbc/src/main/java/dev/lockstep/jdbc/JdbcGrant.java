package dev.lockstep.jdbc;

import dev.lockstep.LockInfo;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.HolderText;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A lock that the database has given to a claim, for as long as its session lives. */
final class JdbcGrant extends AbstractGrant {
    private final JdbcBackend backend;
    private final Session session;
    private final Ask ask;
    private final String name;
    private final boolean uncertain;
    private final List<Integer> slots;
    private volatile boolean shared;

    /**
     * Makes it.
     *
     * @param uncertain whether an earlier request for it may still be carried out
     */
    JdbcGrant(JdbcBackend backend, Session session, ClaimRequest request, Ask ask, Answer answer, boolean uncertain) {
        super(request.listener(), answer.token(), session.validUntilNanos());
        this.slots = answer.slots();
        this.backend = backend;
        this.session = session;
        this.ask = ask;
        this.name = request.name();
        this.uncertain = uncertain;
        if (ask.shared()) {
            shared = true;
        }
    }

    String key() {
        return ask.key();
    }

    String claimId() {
        return ask.claim();
    }

    Session session() {
        return session;
    }

    @Override
    public long validUntilNanos() {
        return session.validUntilNanos();
    }

    @Override
    public void signalLost(LossReason reason) {
        backend.forget(this);
        super.signalLost(reason);
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        boolean lost = isLost();
        return leave(blockAtMost, (link, repeated) -> {
            // A release that was carried out and not answered finds nothing left to release.
            boolean found = ask.shared()
                    ? backend.store().queue().release(link, ask.key(), ask.claim())
                    : shared
                            ? backend.store().queue().leave(link, ask.key(), ask.claim())
                            : backend.store().release(link, ask.key(), ask.claim());
            return !lost && (found || repeated);
        });
    }

    /** A lock expires with its session, so it gets a session of its own. */
    @Override
    public CompletionStage<Boolean> releaseAfter(Duration rest, Duration blockAtMost) {
        String keeper = ask.claim() + ":kept";
        return leave(blockAtMost, (link, repeated) -> {
            backend.sessions().openUnrenewed(link, keeper, rest);
            return backend.store().move(link, ask.key(), ask.claim(), shared, keeper);
        });
    }

    private CompletionStage<Boolean> leave(Duration blockAtMost, Release.Request request) {
        if (backend.isClosed()) {
            backend.forget(this);
            return CompletableFuture.completedFuture(false); // it went with the session
        }
        backend.reconciler().leaves(ask);
        backend.forget(this);
        return new Release(backend, session, name, "release", request)
                .run(blockAtMost)
                .whenComplete((given, failure) -> {
                    backend.reconciler().left(ask);
                    backend.waiters().changed(ask.key());
                    if (uncertain) {
                        backend.suspect(ask);
                    }
                });
    }

    @Override
    public CompletionStage<List<Integer>> slots() {
        return slots.isEmpty() ? super.slots() : CompletableFuture.completedFuture(slots);
    }

    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        String text = wait.map(JdbcGrant::write).orElse(null);
        return backend.requests()
                .ask(
                        name,
                        "record a wait",
                        link -> backend.store().recordWait(link, ask.key(), ask.claim(), shared, text));
    }

    private static String write(LockInfo.Wait wait) {
        String thread = Ask.text(wait.thread(), Ask.THREAD_LENGTH);
        return HolderText.write(LockInfo.Wait.of(wait.lock(), wait.mode(), thread, wait.since(), wait.isBounded()));
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        if (shared) {
            return CompletableFuture.completedFuture(true);
        }
        shared = true; // whatever the result of the request, a release has to look for both
        return new Release(
                        backend,
                        session,
                        name,
                        "downgrade",
                        (link, repeated) -> backend.store().queue().downgrade(link, ask, session.id(), token()))
                .run(Duration.ZERO);
    }
}
