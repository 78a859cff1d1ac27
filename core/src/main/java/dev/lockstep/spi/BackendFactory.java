package dev.lockstep.spi;

/** Makes a backend for a client. */
@FunctionalInterface
public interface BackendFactory {
    /**
     * Connects to the engine. May block, for the request timeout at most.
     *
     * @param context what the backend needs from its client
     * @return a backend that the client owns and closes
     * @throws dev.lockstep.LockUnavailableException if the engine cannot be reached
     * @throws dev.lockstep.LockConfigurationException if the engine is set up in a way that cannot work
     */
    LockBackend open(BackendContext context);

    /**
     * Names the kind of engine, for metrics and logs. Known before a client is connected.
     *
     * @return a fixed word in lower case, such as {@code redis}; {@code other} unless overridden
     */
    default String engine() {
        return "other";
    }

    /**
     * Where the engine is, for messages to people before a client is connected: hosts and ports, never credentials.
     *
     * @return the addresses; empty if they are not known
     */
    default String address() {
        return "";
    }
}
