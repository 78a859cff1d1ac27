package dev.lockstep.servers;

import java.util.function.Supplier;
import org.opentest4j.TestAbortedException;

/** The one place that decides what a missing server means: a skipped test, or a failure where {@code CI=true}. */
public final class Servers {
    private Servers() {}

    /**
     * Starts a server for a test, or skips the test if the server is not available here.
     *
     * <pre>{@code RedisServer redis = Servers.require(() -> RedisServer.builder().start());}</pre>
     *
     * @param start starts the server
     * @param <S> the server's type
     * @return the server
     * @throws ServerUnavailableException if it is not available and the environment says {@code CI=true}
     * @throws TestAbortedException if it is not available elsewhere; test frameworks report that as skipped
     */
    public static <S> S require(Supplier<S> start) {
        return require(start, "true".equals(System.getenv("CI")));
    }

    /**
     * Skips a test if this machine lacks something that is not a server.
     *
     * @param here whether the machine has it
     * @param what what it is, and what to install
     * @throws ServerUnavailableException if it is missing and the environment says {@code CI=true}
     * @throws TestAbortedException if it is missing elsewhere
     */
    public static void require(boolean here, String what) {
        require(() -> {
            if (!here) {
                throw new ServerUnavailableException("this machine lacks " + what);
            }
            return here;
        });
    }

    static <S> S require(Supplier<S> start, boolean failIfUnavailable) {
        try {
            return start.get();
        } catch (ServerUnavailableException e) {
            if (failIfUnavailable) {
                throw e;
            }
            throw new TestAbortedException(e.getMessage(), e);
        }
    }
}
