package dev.lockstep.spring.boot;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A client that connects with its first use; if that fails, the next use tries again. Safe for use by many threads. */
final class LazyLockClient implements LockClient {
    private final String beanName;
    private final Supplier<LockClient> connect;
    private volatile @Nullable LockClient connected;
    private boolean closed;

    LazyLockClient(String beanName, Supplier<LockClient> connect) {
        this.beanName = beanName;
        this.connect = connect;
    }

    private LockClient client() {
        LockClient known = connected;
        return known != null ? known : connect();
    }

    private synchronized LockClient connect() {
        if (closed) {
            throw new IllegalStateException("The lock client '" + beanName + "' is closed.");
        }
        LockClient client = connected;
        if (client == null) {
            client = connect.get();
            connected = client;
        }
        return client;
    }

    @Override
    public DistributedLock lock(String name, LockOptions options) {
        return client().lock(name, options);
    }

    @Override
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        return client().readWriteLock(name, options);
    }

    @Override
    public DistributedLock multiLock(Collection<String> names, LockOptions options) {
        return client().multiLock(names, options);
    }

    @Override
    public LockTemplate template(LockOptions options) {
        return client().template(options);
    }

    @Override
    public LockInfo inspect(String name) {
        return client().inspect(name);
    }

    @Override
    public List<LockInfo> list(String prefix) {
        return client().list(prefix);
    }

    @Override
    public boolean forceRelease(String name) {
        return client().forceRelease(name);
    }

    @Override
    public EngineInfo describe() {
        return client().describe();
    }

    @Override
    public String name() {
        return client().name();
    }

    @Override
    public synchronized void close() {
        closed = true;
        LockClient known = connected;
        if (known != null) {
            known.close();
        }
    }
}
