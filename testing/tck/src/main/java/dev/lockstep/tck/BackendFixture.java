package dev.lockstep.tck;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;

/**
 * The engine as the contract needs it: a way to open clients of it, and ways to inject faults into it. One fixture
 * serves one test and is closed after it; a server behind it may serve a whole test class, since each test has a
 * namespace of its own.
 *
 * <p>The smallest fixture opens clients and declares what the engine can do:
 *
 * <pre>{@code
 * class MyEngineContractTest extends LockContract {
 *     protected BackendFixture fixture() {
 *         return new BackendFixture() {
 *             public LockClient open(LockClient.Builder builder) {
 *                 return builder.url("myengine://localhost:" + SERVER.port()).connect();
 *             }
 *
 *             public Set<Capability> capabilities() {
 *                 return EnumSet.of(Capability.SHARED, Capability.FAIR);
 *             }
 *         };
 *     }
 * }
 * }</pre>
 *
 * <p>Each method that injects a fault is used only if the {@link Capability} of the same name is declared. They affect
 * the client they are given and no other, so a fixture over a real server usually opens each client through a proxy of
 * its own and remembers which is whose.
 *
 * <p>Called by one thread at a time.
 */
public interface BackendFixture extends AutoCloseable {
    /**
     * Opens a client, as another process would: no two clients share a connection or a session.
     *
     * @param builder has all that the test asks for, its namespace included; the engine is to be added
     * @return the client; closed by the contract
     */
    LockClient open(LockClient.Builder builder);

    /**
     * Says what the engine and this fixture can do.
     *
     * @return the capabilities; a missing one skips the tests that need it
     */
    Set<Capability> capabilities();

    /**
     * The ttl of tests that wait for one to pass: as short as the engine allows, yet long enough that a busy machine
     * does not lose a lock by accident.
     *
     * @return the ttl; 2 seconds unless overridden
     */
    default Duration ttl() {
        return Duration.ofSeconds(2);
    }

    /**
     * How many times a race is run, each with its own seed; also how many critical sections an exclusion test has.
     * Lower it where thousands take minutes.
     *
     * @return the number of attempts
     */
    default int attempts() {
        return 2_000;
    }

    /**
     * The URL by which another process reaches the engine, without what the fixture puts in between to inject faults. Needed
     * for {@link Capability#SECOND_PROCESS}.
     *
     * @return the URL, or empty if no other process can reach the engine
     */
    default Optional<String> url() {
        return Optional.empty();
    }

    /**
     * URLs with this engine's scheme that are malformed. URLs with credentials have the password {@code s3cret}, which
     * no message may repeat.
     *
     * @return the URLs; none unless overridden
     */
    default List<String> malformedUrls() {
        return List.of();
    }

    /**
     * Makes the engine unreachable for a client: nothing that it sends arrives, until {@link #healConnection}.
     *
     * @param client one that this fixture opened
     */
    default void breakConnection(LockClient client) {
        throw new UnsupportedOperationException();
    }

    /**
     * Makes the engine silent for a client: connections stay or are even made, but nothing is answered, until {@link
     * #healConnection}. Override it where {@link #breakConnection} refuses connections or closes them, so that a client
     * notices at once. Needed for {@link Capability#BREAK_CONNECTION}.
     *
     * @param client one that this fixture opened
     */
    default void silence(LockClient client) {
        breakConnection(client);
    }

    /**
     * Keeps the engine's answers from a client: what it sends arrives and takes effect, until {@link #healConnection}.
     *
     * @param client one that this fixture opened
     */
    default void loseReplies(LockClient client) {
        throw new UnsupportedOperationException();
    }

    /**
     * Delays each answer to a client, until {@link #healConnection}.
     *
     * @param client one that this fixture opened
     * @param delay from a request's sending to its answer's arrival, at least
     */
    default void slowDown(LockClient client, Duration delay) {
        throw new UnsupportedOperationException();
    }

    /**
     * Ends what {@link #breakConnection}, {@link #silence}, {@link #loseReplies} or {@link #slowDown} began.
     *
     * @param client one that this fixture opened; does nothing if no fault of it is active
     */
    default void healConnection(LockClient client) {
        throw new UnsupportedOperationException();
    }

    /**
     * Ends a client's session at the engine, or whatever there carries the client's grants, as if the ttl had passed.
     *
     * @param client one that this fixture opened
     */
    default void expireSession(LockClient client) {
        throw new UnsupportedOperationException();
    }

    /** Restarts the server, and returns when it serves again. Other tests must not use it meanwhile. */
    default void restartServer() {
        throw new UnsupportedOperationException();
    }

    /**
     * Counts the requests that the engine has served, those of all clients together.
     *
     * @return a number that only rises
     */
    default long requestCount() {
        throw new UnsupportedOperationException();
    }

    /**
     * Fails unless the engine soon has neither holders nor waiters in the test's namespace. Called after each test,
     * before its clients are closed. Override it to look for keys, nodes, rows or watches of the engine as well.
     *
     * @param observer a client in the test's namespace that holds and awaits nothing
     * @param patience how long to wait for it
     */
    default void assertNothingLeft(LockClient observer, Duration patience) {
        Awaitility.await("nothing is left at the engine")
                .pollInSameThread()
                .atMost(patience)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10))
                .ignoreException(LockUnavailableException.class) // a connection that a restart of the server broke
                .untilAsserted(() -> Assertions.assertThat(observer.list("").stream()
                                .map(LockInfo::toString)
                                .toList())
                        .isEmpty());
    }

    /** Releases the fixture's resources, after the contract has closed its clients. */
    @Override
    default void close() {}
}
