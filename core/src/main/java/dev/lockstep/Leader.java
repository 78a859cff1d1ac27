package dev.lockstep;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The leader of an election, as the engine sees it. It may be out of date by the time it is read, and a leader that has
 * crashed is shown until the ttl has passed.
 *
 * <p>Immutable. The client creates it; later versions may add to it.
 */
public final class Leader {
    private final String payload;
    private final long term;
    private final HolderInfo holder;

    private Leader(String payload, long term, HolderInfo holder) {
        this.payload = Objects.requireNonNull(payload, "payload");
        this.term = term;
        this.holder = Objects.requireNonNull(holder, "holder");
    }

    /**
     * Creates one, for tests.
     *
     * @param payload see {@link #payload()}
     * @param term see {@link #term()}
     * @param holder see {@link #holder()}
     * @return the leader
     */
    public static Leader of(String payload, long term, HolderInfo holder) {
        return new Leader(payload, term, holder);
    }

    /**
     * Returns what the candidate published, such as its address.
     *
     * @return the payload; may be empty
     */
    public String payload() {
        return payload;
    }

    /**
     * Returns the number of the term.
     *
     * @return the number, which is the {@link Term#token()} of the term
     */
    public long term() {
        return term;
    }

    /**
     * Names the client, its host and its process.
     *
     * @return the client that leads
     */
    public HolderInfo holder() {
        return holder;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Leader that
                && payload.equals(that.payload)
                && term == that.term
                && holder.equals(that.holder);
    }

    @Override
    public int hashCode() {
        return Objects.hash(payload, term, holder);
    }

    @Override
    public String toString() {
        return "Leader[payload=" + payload + ", term=" + term + ", holder=" + holder + "]";
    }
}
