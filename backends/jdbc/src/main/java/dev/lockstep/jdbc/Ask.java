package dev.lockstep.jdbc;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;

/**
 * A claim's request, in the terms of the tables.
 *
 * @param key the lock's name as stored in the tables
 * @param claim the claim's id
 * @param client the id of its client, with which the claim's begins
 * @param limit how many permits the semaphore has; 0 for a lock
 * @param permits how many of them it asks for; 1 for a lock
 */
record Ask(
        String key,
        String claim,
        String client,
        boolean shared,
        boolean mayWait,
        boolean mayBarge,
        String thread,
        int sticky,
        int limit,
        int permits) {
    static final int THREAD_LENGTH = 255;

    static Ask of(ClaimRequest request, String key, String client) {
        HolderInfo holder = request.holder();
        return new Ask(
                key,
                request.claimId(),
                client,
                request.mode() == LockMode.SHARED,
                request.mayWait(),
                request.mayBarge(),
                text(holder.thread(), THREAD_LENGTH),
                holder.sticky() ? 1 : 0,
                request.limit().orElse(0),
                request.permits());
    }

    /** Text for people, in a form that every database accepts: no control characters, no unpaired surrogates. */
    static String text(String any, int length) {
        StringBuilder text = new StringBuilder(any.length());
        any.codePoints()
                .limit(length / 2)
                .forEach(c -> text.appendCodePoint(
                        Character.isISOControl(c) || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
                                ? '?'
                                : c));
        return text.toString();
    }

    boolean isOfSameClient(String otherClaim) {
        return otherClaim.startsWith(client + '.');
    }
}
