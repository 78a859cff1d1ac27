package dev.lockstep.spi;

import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * What is the same in every backend over a network: it knows its client's context, and answers operators about its own
 * namespace as {@link #admin(String)} does about any.
 *
 * <p>Safe for use by many threads, as {@link LockBackend} demands of its subclasses.
 */
public abstract class AbstractBackend implements LockBackend {
    private final BackendContext context;

    /**
     * Makes a backend.
     *
     * @param context what it needs of its client
     */
    protected AbstractBackend(BackendContext context) {
        this.context = context;
    }

    /**
     * Tells what the backend needs of its client.
     *
     * @return the same context at each call
     */
    public final BackendContext context() {
        return context;
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
