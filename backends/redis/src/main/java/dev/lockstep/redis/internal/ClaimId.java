package dev.lockstep.redis.internal;

/**
 * Identifies a claim on a server. If the server has forgotten a claim, or a late request of the claim may still arrive
 * and harm it, the claim continues under another id, its next life: messages about the earlier id are then not mistaken
 * for news. Immutable.
 *
 * @param claim the claim's own id, the same in all its lives
 * @param text the id on the server
 * @param life how many lives it had before
 */
public record ClaimId(String claim, String text, int life) {
    private static final char LIFE = '/';

    /** The id of a claim in its first life. */
    public static ClaimId of(String claim) {
        return new ClaimId(claim, claim, 0);
    }

    /** The claim's own id, from which the id on the server is made. */
    public static String claimOf(String text) {
        int end = text.indexOf(LIFE);
        return end < 0 ? text : text.substring(0, end);
    }

    public ClaimId nextLife() {
        return new ClaimId(claim, claim + LIFE + (life + 1), life + 1);
    }

    public byte[] bytes() {
        return Bytes.bytes(text);
    }
}
