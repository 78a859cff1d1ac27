package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * The common part of the tests of etcd's own behaviour: a namespace for each test, and clients that are closed after
 * it.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class EtcdTestCase {
    static final String NAME = "order:42";
    static final Duration SHORT_TTL = Duration.ofSeconds(2);

    final String namespace = "test-" + UUID.randomUUID();
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** Loads what the first client of a JVM loads, which takes longer than some tests let a request take. */
    static void warmUp(String addresses) {
        LockClient.builder()
                .url("etcd://" + addresses)
                .requestTimeout(Duration.ofSeconds(60))
                .connect()
                .close();
    }

    /** A client to be. */
    LockClient.Builder builder() {
        return LockClient.builder()
                .namespace(namespace)
                .requestTimeout(Duration.ofSeconds(20))
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100));
    }

    LockClient connect(String url) {
        return closedAfterwards(builder().url(url).connect());
    }

    /** Connects, in several tries: the request timeout of a test may be too short for that on a busy machine. */
    LockClient connect(LockClient.Builder impatient) {
        LockClient[] client = new LockClient[1];
        await("a connection", () -> {
            client[0] = impatient.connect();
            return true;
        });
        return closedAfterwards(client[0]);
    }

    synchronized <T extends AutoCloseable> T closedAfterwards(T resource) {
        opened.add(resource);
        return resource;
    }

    @AfterEach
    final void closeAll() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    /** Waits for a condition; a question that etcd does not answer in time is asked again. */
    static void await(String what, Callable<Boolean> condition) {
        Awaitility.await(what)
                .ignoreException(LockUnavailableException.class)
                .atMost(Duration.ofSeconds(30))
                .pollInSameThread()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(condition);
    }

    /** Releases what may have been lost in an election that took long, and prints that. */
    static void giveBack(Lease held) {
        try {
            held.close();
        } catch (LockLostException e) {
            assertThat(held.isValid()).isFalse();
        }
    }

    /** The prefix of a lock's keys, repeated here instead of taken from the code under test. */
    String lockPrefix(String encodedName) {
        return "lockstep/" + namespace + "/lock/" + encodedName + "/";
    }
}
