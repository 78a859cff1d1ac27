package dev.lockstep;

import dev.lockstep.spi.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A client's behaviour while its engine is down. Set it with {@link LockClient.Builder#fallback(Fallback)}.
 *
 * <pre>{@code
 * LockClient.builder().url("redis://…").fallback(Fallback.thisJvmOnly().after(Duration.ofSeconds(3))).connect();
 * }</pre>
 *
 * <p>A fallback trades exclusion for progress: while it lasts, a process that still reaches the engine, or that is cut
 * off from the fallback too, may hold the same lock. It suits locks that save work, not locks that protect data. A hold
 * that was taken in fallback is marked ({@link Lease#isFallback()}) and has no token, so the holder cannot write to
 * storage that checks tokens.
 *
 * <p><b>In.</b> When the client needs the engine and the engine has not answered for {@link #after}, waiting and new
 * claims go to the fallback, unless this client still has a valid hold of the same lock from before. Until then calls
 * wait, or fail with {@link LockUnavailableException} at their own deadline. A client that finds the engine down when
 * it connects begins in fallback.
 *
 * <p><b>Out.</b> The client probes the engine meanwhile. When it answers, claims go to it again; claims for a lock that
 * is still held in fallback go to it once that hold has ended, and until then a call that does not wait finds that lock
 * busy. Listeners are notified of both switches: {@link LockListener#onFallbackEntered} and {@link
 * LockListener#onFallbackLeft}.
 *
 * <p>Immutable.
 */
public final class Fallback {
    private static final Fallback FAIL_FAST = new Fallback(Kind.FAIL_FAST, null, null);
    private static final Fallback THIS_JVM = new Fallback(Kind.THIS_JVM, null, null);

    private final Kind kind;
    private final @Nullable String url;
    private final @Nullable Duration after;

    private Fallback(Kind kind, @Nullable String url, @Nullable Duration after) {
        this.kind = kind;
        this.url = url;
        this.after = after;
    }

    /** The kinds of fallback. */
    public enum Kind {
        /** No fallback. */
        FAIL_FAST,
        /** Another engine. */
        ENGINE,
        /** An engine inside this JVM. */
        THIS_JVM
    }

    /**
     * No fallback: calls fail with {@link LockUnavailableException} while the engine is down. The default.
     *
     * @return the policy
     */
    public static Fallback failFast() {
        return FAIL_FAST;
    }

    /**
     * Another engine. The client connects to it from the beginning, so it must be running when the client connects. The
     * client offers only features of both engines: shared, fair and sticky locks only if both have them.
     *
     * @param url the other engine; see {@link LockClient.Builder#url(String)}
     * @return the policy
     */
    public static Fallback to(String url) {
        return new Fallback(Kind.ENGINE, Objects.requireNonNull(url, "url"), null);
    }

    /**
     * An engine inside this JVM: only threads of this JVM exclude each other meanwhile. It is shared by all clients of
     * the JVM that have the same URL and namespace and are in fallback too; a client that was given a backend object
     * instead of a URL has its own.
     *
     * @return the policy
     */
    public static Fallback thisJvmOnly() {
        return THIS_JVM;
    }

    /**
     * How long the engine must have been silent while it was needed. Time during which this process itself was paused
     * does not count.
     *
     * @param silence twice the request timeout unless set
     * @return a copy of this policy with that time
     * @throws IllegalArgumentException if it is not positive
     * @throws IllegalStateException if there is no fallback
     */
    public Fallback after(Duration silence) {
        Duration limit = Durations.requireLimit(silence, "after");
        if (kind == Kind.FAIL_FAST) {
            throw new IllegalStateException("after(…) needs a fallback: use to(url) or thisJvmOnly().");
        }
        return new Fallback(kind, url, limit);
    }

    /**
     * Returns which kind of fallback this is.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * The other engine.
     *
     * @return its URL, credentials included; empty unless {@link Kind#ENGINE}
     */
    public Optional<String> url() {
        return Optional.ofNullable(url);
    }

    /**
     * How long the engine must have been silent.
     *
     * @return the time; empty for the default
     */
    public Optional<Duration> after() {
        return Optional.ofNullable(after);
    }

    /** Includes everything except the URL, which may contain a password. */
    @Override
    public String toString() {
        return "Fallback[" + kind + (after == null ? "]" : ", after " + after + "]");
    }
}
