package dev.lockstep.redis;

import dev.lockstep.redis.internal.ClaimId;
import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Trace;

/** What the server may know of a claim, and under which id. Guarded by the claim's monitor. */
final class ServerRecord {
    private Trace trace = Trace.NONE;
    private ClaimId id;
    private byte[] owner;
    private long countsFromNanos;

    /**
     * Makes the record of a claim that has not asked yet.
     *
     * @param owner identifies the claim on the server
     * @param sentNanos when it was made
     */
    ServerRecord(String claimId, byte[] owner, long sentNanos) {
        this.id = ClaimId.of(claimId);
        this.owner = owner;
        this.countsFromNanos = sentNanos;
    }

    byte[] owner() {
        return owner;
    }

    /** Whether a message that names an id is about this claim as the server knows it now. */
    boolean isKnownAs(String other) {
        return id.text().equals(other);
    }

    /** From when a grant that comes by push counts: the server counts a waiter's time from the last request it answered. */
    long countsFromNanos() {
        return countsFromNanos;
    }

    /** The server has answered that the claim waits. */
    void waits(long sentNanos) {
        countsFromNanos = sentNanos;
    }

    /** The server has answered. */
    void answered() {
        trace = trace.answered(true);
    }

    /** A request to the server failed. */
    void failed(Failure failure) {
        trace = trace.failed(failure);
    }

    /** The server has forgotten the claim, which asks again under another id. */
    void forgotten(long nowNanos) {
        id = id.nextLife();
        owner = id.bytes();
        countsFromNanos = nowNanos;
    }

    /** Whether the server certainly knows nothing of it. */
    boolean isEmpty() {
        return trace == Trace.NONE;
    }

    /** Whether a request that was not answered may still reach the server, and must then get nothing. */
    boolean isUnsure() {
        return trace == Trace.UNSURE;
    }
}
