package dev.lockstep.benchmarks.contenders;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LeaderElection;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.benchmarks.worker.Contender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Lockstep with its defaults, or with one option: {@code sticky} or {@code fair}; or its semaphores, {@code permit}, or its
 * elections, {@code election}, each term of which is that of a candidate of its own.
 */
public final class Lockstep implements Contender {
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
        boolean server = url.startsWith("jdbc:") && !url.startsWith("jdbc:h2:") && !url.startsWith("jdbc:sqlite:");
        String full = server ? url + "&lockstep.createSchema=true" : url;
        LockClient client = LockClient.connect(full);
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return switch (variant) {
                    case "permit" -> permits(client.semaphore(name, PERMITS));
                    case "election" -> Mutex.of(() -> lead(client, name), LeaderElection::close);
                    default -> Mutex.of(client.lock(name, options));
                };
            }

            @Override
            public Mutex readMutex(String name) {
                return Mutex.of(client.readWriteLock(name, options).readLock());
            }

            @Override
            public Mutex multiMutex(List<String> names) {
                return Mutex.of(client.multiLock(names, options));
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private static Mutex permits(DistributedSemaphore semaphore) {
        return Mutex.of(semaphore::acquire, Permit::close);
    }

    private static LeaderElection lead(LockClient client, String name) throws Exception {
        CountDownLatch leads = new CountDownLatch(1);
        LeaderElection election = client.election(name, term -> {
            leads.countDown();
            new CountDownLatch(1).await(); // until it is interrupted
        });
        leads.await();
        return election;
    }
}
