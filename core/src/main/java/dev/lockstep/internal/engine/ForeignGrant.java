package dev.lockstep.internal.engine;

import dev.lockstep.spi.Grant;

/**
 * A grant of a client that uses more than one engine. One that is foreign was not given by the client's own engine: it has
 * no token, and neither says anything about the grants of that engine nor is overruled by them.
 */
public interface ForeignGrant extends Grant {
    boolean isForeign();

    /** Whether a grant was given by another engine than the client's own. */
    static boolean isForeign(Grant grant) {
        return grant instanceof ForeignGrant known && known.isForeign();
    }
}
