package dev.lockstep.benchmarks.contenders;

import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.benchmarks.worker.Contender;
import java.time.Duration;

/** Lockstep with its defaults, or with one option: {@code sticky}, {@code fair}, or {@code queue=off} of the URL. */
public final class Lockstep implements Contender {
    private static final String NO_QUEUE = "queue=off";

    private final String variant;
    private final LockOptions options;

    /**
     * Makes it.
     *
     * @param variant the option, or nothing
     */
    public Lockstep(String variant) {
        this.variant = variant;
        LockOptions defaults = LockOptions.defaults();
        options = switch (variant) {
            case "sticky" -> defaults.sticky(Duration.ofSeconds(10));
            case "fair" -> defaults.fair();
            default -> defaults;
        };
    }

    @Override
    public Client open(String url) {
        LockClient client = LockClient.connect(withOptions(url));
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

    private String withOptions(String url) {
        if (url.startsWith("jdbc:")) {
            return url + "&lockstep.createSchema=true";
        }
        return variant.equals(NO_QUEUE) ? url + "?" + NO_QUEUE : url;
    }
}
