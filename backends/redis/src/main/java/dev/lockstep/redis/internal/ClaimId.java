package dev.lockstep.redis.internal;

/**
 * What identifies a claim at a server. A claim that the server has forgotten, or at which a request of its own may still
 * arrive that would harm it, goes on under another id, its next life: what concerns the earlier one is then not mistaken
 * for news. Immutable.
 *
 * @param claim the claim's own id, the same in all its lives
 * @param text the id at the server
 * @param life how many lives it had before
 */
public record ClaimId(String claim, String text, int life) {
    private static final char LIFE = '/';

    /** The id of a claim in its first life. */
    public static ClaimId of(String claim) {
        return new ClaimId(claim, claim, 0);
    }

    /** The claim's own id, of which one at the server is made. */
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
