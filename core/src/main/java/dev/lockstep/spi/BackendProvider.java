package dev.lockstep.spi;

import java.util.Set;

/**
 * Announces an engine by the schemes of its URLs. Found by {@link java.util.ServiceLoader}, so an implementation has a
 * public constructor without parameters.
 */
public interface BackendProvider {
    /**
     * The schemes that this provider serves.
     *
     * @return lower-case schemes without the colon, such as {@code redis}
     */
    Set<String> schemes();

    /**
     * Parses a URL, without connecting. Messages of exceptions must not repeat credentials.
     *
     * @param url a URL with one of the schemes
     * @return a factory that connects to it
     * @throws dev.lockstep.LockConfigurationException if the URL is malformed; the message says what is expected
     */
    BackendFactory parse(String url);
}
