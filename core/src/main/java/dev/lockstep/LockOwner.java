package dev.lockstep;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The client and the thread whose claim holds a lock or waits for it, from what the engine stores about the claim.
 *
 * <p>A claim is stored once, so after a hand-off to another thread of the same client the thread is still the one that made
 * the claim. {@link LockClient#snapshot()} shows the threads of a client as they are now. An asynchronous call has the thread
 * that called it; a candidate of an election has its payload in the place of the thread's name, and no thread id.
 *
 * <p>Immutable. Later versions may add to it.
 *
 * @see LockInfo.Entry#owner()
 */
public final class LockOwner {
    /** A name, which may be missing, and an id. */
    private static final Pattern THREAD = Pattern.compile("(?:(.*) )?#(\\d{1,18})", Pattern.DOTALL);

    /** The prefix of a candidate's stored payload. */
    private static final String ELECTION = "election";

    private final Optional<String> claimId;
    private final String thread;

    private LockOwner(Optional<String> claimId, String thread) {
        this.claimId = claimId;
        this.thread = thread;
    }

    static LockOwner of(Optional<String> claimId, HolderInfo holder) {
        return new LockOwner(claimId, holder.thread());
    }

    /**
     * Identifies the client, among all clients and for all time. Two clients may have the same name, but not the same id.
     *
     * @return the client's id; empty if the engine does not know the claim
     */
    public Optional<String> clientId() {
        return claimId.map(id -> id.indexOf('.') < 0 ? id : id.substring(0, id.indexOf('.')));
    }

    /**
     * Identifies the claim, as {@link LockInfo.Entry#claim()} does.
     *
     * @return the claim's id; empty if the engine does not know it
     */
    public Optional<String> claimId() {
        return claimId;
    }

    /**
     * Names the thread that made the claim. Engines may shorten it: SQL keeps 127 characters, and of a longer name no id.
     *
     * @return the thread's name; empty if it has none, as most virtual threads
     */
    public Optional<String> threadName() {
        Matcher both = THREAD.matcher(thread);
        if (isCandidate() || !both.matches()) {
            return thread.isEmpty() ? Optional.empty() : Optional.of(thread);
        }
        return Optional.ofNullable(both.group(1));
    }

    /**
     * Identifies the thread that made the claim, within its process.
     *
     * @return the thread's id; empty for a candidate of an election
     */
    public OptionalLong threadId() {
        Matcher both = THREAD.matcher(thread);
        return isCandidate() || !both.matches() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(both.group(2)));
    }

    /** Whether there is the payload of a candidate, which may look like a thread's name and id. */
    private boolean isCandidate() {
        return thread.equals(ELECTION) || thread.startsWith(ELECTION + " ");
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOwner that && claimId.equals(that.claimId) && thread.equals(that.thread);
    }

    @Override
    public int hashCode() {
        return Objects.hash(claimId, thread);
    }

    @Override
    public String toString() {
        return "LockOwner[claim=" + claimId.orElse("unknown") + ", thread=" + thread + "]";
    }
}
