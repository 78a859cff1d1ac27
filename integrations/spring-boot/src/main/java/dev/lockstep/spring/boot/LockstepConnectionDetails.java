package dev.lockstep.spring.boot;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the engine is, from somebody who started it: Testcontainers' {@code @ServiceConnection}, Docker Compose, or a bean of the
 * application. Takes the place of {@code lockstep.url}.
 */
public interface LockstepConnectionDetails extends ConnectionDetails {
    /**
     * The engine.
     *
     * @return its URL
     */
    String url();
}
