package dev.lockstep.spring.boot;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the engine is, as a bean defined by the code that started it, such as a test. Takes the place of {@code
 * lockstep.url}.
 *
 * <p>Lockstep makes no such bean of containers. For Redis and databases it need not: Spring Boot's own connection details, of
 * Testcontainers' {@code @ServiceConnection} and of Docker Compose, are the application's Redis and {@code DataSource}, which the
 * locks then use. For etcd and ZooKeeper, define a bean over the container: one among the services of Docker Compose may be there
 * for something else, so it is not taken for the place of the locks by itself.
 */
public interface LockstepConnectionDetails extends ConnectionDetails {
    /**
     * The engine.
     *
     * @return its URL
     */
    String url();
}
