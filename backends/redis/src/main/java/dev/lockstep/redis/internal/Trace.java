package dev.lockstep.redis.internal;

/** The state that a server may have of a claim. */
public enum Trace {
    /** Nothing: it never had, or said that it has nothing any more. */
    NONE,
    /** A place in its queue, or the lock. */
    KNOWN,
    /** Anything, at any later time: a request that was not answered may still arrive, and must then get nothing. */
    UNSURE;

    /** The server has answered that it has something, or nothing. */
    public Trace answered(boolean something) {
        return this == UNSURE ? UNSURE : something ? KNOWN : NONE;
    }

    /** A request to the server failed. */
    public Trace failed(Failure failure) {
        return switch (failure.kind()) {
            case NOT_DONE -> this;
            case UNKNOWN -> UNSURE;
            case FINAL -> answered(true); // perhaps during the script
        };
    }
}
