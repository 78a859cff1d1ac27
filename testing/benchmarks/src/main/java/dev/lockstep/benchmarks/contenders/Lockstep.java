package dev.lockstep.benchmarks.contenders;

import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.benchmarks.worker.Contender;
import java.time.Duration;

/** Lockstep with its defaults, or with one option: {@code sticky} or {@code fair}. */
public final class Lockstep implements Contender {
    private final LockOptions options;

    /**
     * Makes it.
     *
     * @param variant the option, or nothing
     */
    public Lockstep(String variant) {
        LockOptions defaults = LockOptions.defaults();
        options = switch (variant) {
            case "sticky" -> defaults.sticky(Duration.ofSeconds(10));
            case "fair" -> defaults.fair();
            default -> defaults;
        };
    }

    @Override
    public Client open(String url) {
        String full = url.startsWith("jdbc:") ? url + "&lockstep.createSchema=true" : url;
        LockClient client = LockClient.connect(full);
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return Mutex.of(client.lock(name, options));
            }

            @Override
            public Mutex readMutex(String name) {
                return Mutex.of(client.readWriteLock(name, options).readLock());
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }
}
