package dev.lockstep.servers;

/** A server did not start, stop or answer as it should; the message carries the end of its log where there is one. */
public class ServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A failure without a cause.
     *
     * @param message what was tried, and what happened
     */
    public ServerException(String message) {
        super(message);
    }

    /**
     * A failure with a cause.
     *
     * @param message what was tried
     * @param cause what happened
     */
    public ServerException(String message, Throwable cause) {
        super(message, cause);
    }
}
