package dev.lockstep.redis;

import org.jspecify.annotations.Nullable;

/** What the server has said of a claim by push, before the claim could use it. Guarded by the claim's monitor. */
final class PushedNews {
    private @Nullable Answer grant;
    private boolean hinted;
    private boolean wanted;

    /** The server has granted the claim, whose request is still on its way. */
    void granted(Answer answer) {
        grant = answer;
    }

    /** The grant that came before the answer to the request; null if none did. */
    @Nullable
    Answer grant() {
        return grant;
    }

    /** The lock may be free. {@link Waiters} may not know the claim yet, and asks for this when they do. */
    void hinted() {
        hinted = true;
    }

    /** Whether a hint has come since this was last asked. */
    boolean takeHint() {
        boolean had = hinted;
        hinted = false;
        return had;
    }

    /** Another client waits for what the claim is about to get. */
    void wanted() {
        wanted = true;
    }

    boolean isWanted() {
        return wanted;
    }
}
