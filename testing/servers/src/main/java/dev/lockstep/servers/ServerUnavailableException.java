package dev.lockstep.servers;

/** A server's program is not available on this machine; {@link Servers#require} turns this into a skip where that is allowed. */
public final class ServerUnavailableException extends ServerException {
    private static final long serialVersionUID = 1L;

    /**
     * A program that is neither here nor available for download.
     *
     * @param message which program, where it was looked for, and how to get it
     */
    public ServerUnavailableException(String message) {
        super(message);
    }

    /**
     * A program that could not be fetched.
     *
     * @param message which program, where it was looked for, and how to get it
     * @param cause why fetching it failed
     */
    public ServerUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
