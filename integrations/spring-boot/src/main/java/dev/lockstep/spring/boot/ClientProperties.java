package dev.lockstep.spring.boot;

import dev.lockstep.DeadlockPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The settings of one lock client. Not safe for use by several threads; Spring Boot fills it at the start. */
public class ClientProperties {
    /** The engine, such as redis://host:6379 or jdbc:postgresql://host/db. Without it, the application's own is used. */
    private @Nullable String url;

    /** Separates the locks of one system from those of others on the same engine. */
    private String namespace = "lockstep";

    /** The name under which others see this client. Host and process id by default. */
    private @Nullable String clientName;

    /** How long a lock outlives a dead client. */
    private Duration ttl = Duration.ofSeconds(30);

    /** How long one request to the engine may take. */
    private Duration requestTimeout = Duration.ofSeconds(5);

    /** Whether to connect in the background, so that the application starts even if the engine is down. */
    private boolean lazyConnect;

    /**
     * The behaviour in deadlocks: threads that hold locks and wait for each other's. The same for all clients of an
     * engine.
     */
    private DeadlockPolicy deadlocks = DeadlockPolicy.REPORT;

    /** How long a thread that holds a lock waits for another one before that is recorded on the engine, to find deadlocks. */
    private Duration recordWaitsAfter = Duration.ofSeconds(1);

    private final RetryBackoff retryBackoff = new RetryBackoff();
    private final FallbackProperties fallback = new FallbackProperties();
    private final Jdbc jdbc = new Jdbc();

    /** Makes settings with the defaults. */
    public ClientProperties() {}

    /**
     * Returns the engine.
     *
     * @return its URL
     */
    public @Nullable String getUrl() {
        return url;
    }

    /**
     * Sets the engine.
     *
     * @param url its URL
     */
    public void setUrl(@Nullable String url) {
        this.url = url;
    }

    /**
     * Returns the namespace.
     *
     * @return the namespace
     */
    public String getNamespace() {
        return namespace;
    }

    /**
     * Sets the namespace.
     *
     * @param namespace the namespace
     */
    public void setNamespace(String namespace) {
        this.namespace = namespace;
    }

    /**
     * Returns the client's name.
     *
     * @return the name
     */
    public @Nullable String getClientName() {
        return clientName;
    }

    /**
     * Sets the client's name.
     *
     * @param clientName the name
     */
    public void setClientName(@Nullable String clientName) {
        this.clientName = clientName;
    }

    /**
     * Returns the ttl.
     *
     * @return the ttl
     */
    public Duration getTtl() {
        return ttl;
    }

    /**
     * Sets the ttl.
     *
     * @param ttl the ttl
     */
    public void setTtl(Duration ttl) {
        this.ttl = ttl;
    }

    /**
     * Returns the request timeout.
     *
     * @return the timeout
     */
    public Duration getRequestTimeout() {
        return requestTimeout;
    }

    /**
     * Sets the request timeout.
     *
     * @param requestTimeout the timeout
     */
    public void setRequestTimeout(Duration requestTimeout) {
        this.requestTimeout = requestTimeout;
    }

    /**
     * Returns whether the client connects in the background.
     *
     * @return true if it does
     */
    public boolean isLazyConnect() {
        return lazyConnect;
    }

    /**
     * Sets whether the client connects in the background.
     *
     * @param lazyConnect true if it does
     */
    public void setLazyConnect(boolean lazyConnect) {
        this.lazyConnect = lazyConnect;
    }

    /**
     * Returns what to do about deadlocks.
     *
     * @return the policy
     */
    public DeadlockPolicy getDeadlocks() {
        return deadlocks;
    }

    /**
     * Sets what to do about deadlocks.
     *
     * @param deadlocks the policy
     */
    public void setDeadlocks(DeadlockPolicy deadlocks) {
        this.deadlocks = deadlocks;
    }

    /**
     * Returns after which time a wait is recorded.
     *
     * @return the time
     */
    public Duration getRecordWaitsAfter() {
        return recordWaitsAfter;
    }

    /**
     * Sets after which time a wait is recorded.
     *
     * @param recordWaitsAfter the time
     */
    public void setRecordWaitsAfter(Duration recordWaitsAfter) {
        this.recordWaitsAfter = recordWaitsAfter;
    }

    /**
     * Returns when failed requests are tried again.
     *
     * @return the settings
     */
    public RetryBackoff getRetryBackoff() {
        return retryBackoff;
    }

    /**
     * Returns what to do when the engine is down.
     *
     * @return the settings
     */
    public FallbackProperties getFallback() {
        return fallback;
    }

    /**
     * Returns what is for SQL.
     *
     * @return the settings
     */
    public Jdbc getJdbc() {
        return jdbc;
    }

    /** When failed requests are tried again. */
    public static class RetryBackoff {
        /** How long to wait after the first failure. */
        private Duration min = Duration.ofMillis(20);

        /** The longest wait. */
        private Duration max = Duration.ofSeconds(1);

        /** Makes settings with the defaults. */
        public RetryBackoff() {}

        /**
         * Returns the first wait.
         *
         * @return the wait
         */
        public Duration getMin() {
            return min;
        }

        /**
         * Sets the first wait.
         *
         * @param min the wait
         */
        public void setMin(Duration min) {
            this.min = min;
        }

        /**
         * Returns the longest wait.
         *
         * @return the wait
         */
        public Duration getMax() {
            return max;
        }

        /**
         * Sets the longest wait.
         *
         * @param max the wait
         */
        public void setMax(Duration max) {
            this.max = max;
        }
    }

    /** The behaviour while the engine is down. */
    public static class FallbackProperties {
        /** Another engine to use, or "jvm" for this JVM alone. Exclusion then means less; see the guarantees. */
        private @Nullable String to;

        /** How long the engine must have been silent. Twice the request timeout by default. */
        private @Nullable Duration after;

        /** Makes settings with the defaults. */
        public FallbackProperties() {}

        /**
         * Returns the engine to use instead.
         *
         * @return its URL, or {@code jvm}
         */
        public @Nullable String getTo() {
            return to;
        }

        /**
         * Sets the engine to use instead.
         *
         * @param to its URL, or {@code jvm}
         */
        public void setTo(@Nullable String to) {
            this.to = to;
        }

        /**
         * Returns how long the engine must have been silent.
         *
         * @return the time
         */
        public @Nullable Duration getAfter() {
            return after;
        }

        /**
         * Sets how long the engine must have been silent.
         *
         * @param after the time
         */
        public void setAfter(@Nullable Duration after) {
            this.after = after;
        }
    }

    /** The properties for SQL. */
    public static class Jdbc {
        /** Whether locks use the application's DataSource. By default, if there is no URL and lockstep-jdbc is present. */
        private @Nullable Boolean useDataSource;

        /** Whether missing tables are created in the application's DataSource. By default, only in H2 and SQLite. */
        private @Nullable Boolean createSchema;

        /** Makes settings with the defaults. */
        public Jdbc() {}

        /**
         * Returns whether locks use the application's {@code DataSource}.
         *
         * @return true or false, or null if nothing was said
         */
        public @Nullable Boolean getUseDataSource() {
            return useDataSource;
        }

        /**
         * Sets whether locks use the application's {@code DataSource}.
         *
         * @param useDataSource true if they do
         */
        public void setUseDataSource(@Nullable Boolean useDataSource) {
            this.useDataSource = useDataSource;
        }

        /**
         * Returns whether missing tables are created in the application's {@code DataSource}.
         *
         * @return true or false, or null if nothing was said
         */
        public @Nullable Boolean getCreateSchema() {
            return createSchema;
        }

        /**
         * Sets whether missing tables are created in the application's {@code DataSource}.
         *
         * @param createSchema true if they are
         */
        public void setCreateSchema(@Nullable Boolean createSchema) {
            this.createSchema = createSchema;
        }
    }
}
