package dev.lockstep.spi;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The common part of all backends over a network: it knows its client's context, and answers operators about its own
 * namespace as {@link #admin(String)} does about any.
 *
 * <p>Safe for use by many threads, as {@link LockBackend} demands of its subclasses.
 */
public abstract class AbstractBackend implements LockBackend {
    private final BackendContext context;

    /**
     * Makes a backend.
     *
     * @param context what it needs from its client
     */
    protected AbstractBackend(BackendContext context) {
        this.context = context;
    }

    /**
     * Returns what the backend needs from its client.
     *
     * @return the same context at each call
     */
    public final BackendContext context() {
        return context;
    }

    /**
     * A {@link #submitAll} for an engine whose client sends requests without waiting for the answers to earlier ones:
     * each claim has its own request, and all are sent at the same time.
     *
     * @param requests what is asked
     * @return a claim for each request
     */
    protected final List<Claim> submitTogether(List<? extends ClaimRequest> requests) {
        return LockBackend.super.submitAll(
                requests.stream().map(UnblockedRequest::new).toList());
    }

    /**
     * The {@link #releaseAll} that belongs to {@link #submitTogether}.
     *
     * @param grants what is released
     * @return the answer for each grant
     */
    protected final List<CompletionStage<Boolean>> releaseTogether(List<? extends Grant> grants) {
        return LockBackend.super.releaseAll(grants, DO_NOT_BLOCK);
    }

    @Override
    public abstract AdminBackend admin(String namespace);

    private AdminBackend own() {
        return admin(context.namespace());
    }

    @Override
    public final CompletionStage<LockInfo> inspect(String name) {
        return own().inspect(name);
    }

    @Override
    public final CompletionStage<List<LockInfo>> list(String prefix) {
        return own().list(prefix);
    }

    @Override
    public final CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return own().list(prefix, cursor, limit);
    }

    @Override
    public final CompletionStage<Boolean> forceRelease(String name) {
        return own().forceRelease(name);
    }

    @Override
    public final CompletionStage<Boolean> forceRelease(String name, long token) {
        return own().forceRelease(name, token);
    }
}
