package dev.lockstep;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The client that asked for a lock, for people to read. Lockstep makes no decision from it.
 *
 * <p>Immutable. Backends create it; later versions may add to it.
 */
public final class HolderInfo {
    private final String client;
    private final String host;
    private final long pid;
    private final String thread;
    private final Instant since;
    private final boolean sticky;

    private HolderInfo(String client, String host, long pid, String thread, Instant since, boolean sticky) {
        this.client = Objects.requireNonNull(client, "client");
        this.host = Objects.requireNonNull(host, "host");
        this.pid = pid;
        this.thread = Objects.requireNonNull(thread, "thread");
        this.since = Objects.requireNonNull(since, "since");
        this.sticky = sticky;
    }

    /**
     * Creates one without a thread and a time, for backends.
     *
     * @param client see {@link #client()}
     * @param host see {@link #host()}
     * @param pid see {@link #pid()}
     * @return the holder, which is not sticky
     */
    public static HolderInfo of(String client, String host, long pid) {
        return new HolderInfo(client, host, pid, "", Instant.EPOCH, false);
    }

    /**
     * Creates one with a thread, for backends.
     *
     * @param thread see {@link #thread()}
     * @return a copy
     */
    public HolderInfo withThread(String thread) {
        return new HolderInfo(client, host, pid, thread, since, sticky);
    }

    /**
     * Creates one with a time, for backends.
     *
     * @param since see {@link #since()}
     * @return a copy
     */
    public HolderInfo withSince(Instant since) {
        return new HolderInfo(client, host, pid, thread, since, sticky);
    }

    /**
     * Creates one whose lock is sticky or not, for backends.
     *
     * @param sticky see {@link #sticky()}
     * @return a copy
     */
    public HolderInfo withSticky(boolean sticky) {
        return new HolderInfo(client, host, pid, thread, since, sticky);
    }

    /**
     * Names the client.
     *
     * @return its name, see {@link LockClient.Builder#clientName(String)}
     */
    public String client() {
        return client;
    }

    /**
     * Names the machine of the client.
     *
     * @return the name that the machine has for itself
     */
    public String host() {
        return host;
    }

    /**
     * Identifies the process of the client.
     *
     * @return its process id
     */
    public long pid() {
        return pid;
    }

    /**
     * Names the thread that asked first.
     *
     * @return its name, a space, a number sign and its id, such as {@code main #1}; only the number sign and the id if it
     *     has no name, as most virtual threads. {@link LockInfo.Entry#owner()} has both parts
     */
    public String thread() {
        return thread;
    }

    /**
     * Says when the thread asked.
     *
     * @return the time, by the clock of its machine or of the engine
     */
    public Instant since() {
        return since;
    }

    /**
     * Says whether the lock is sticky: its client may keep it while none of its threads uses it.
     *
     * @return true if it is
     */
    public boolean sticky() {
        return sticky;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HolderInfo that
                && client.equals(that.client)
                && host.equals(that.host)
                && pid == that.pid
                && thread.equals(that.thread)
                && since.equals(that.since)
                && sticky == that.sticky;
    }

    @Override
    public int hashCode() {
        return Objects.hash(client, host, pid, thread, since, sticky);
    }

    @Override
    public String toString() {
        return "client " + client + " (host " + host + ", pid " + pid + ", thread " + thread
                + (sticky ? ", sticky" : "") + ") since " + since;
    }
}
