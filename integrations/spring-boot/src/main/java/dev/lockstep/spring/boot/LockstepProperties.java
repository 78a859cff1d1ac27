package dev.lockstep.spring.boot;

import dev.lockstep.spi.Durations;
import dev.lockstep.spring.CallerTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** The properties {@code lockstep.*}. Not safe for use by several threads; Spring Boot fills it at the start. */
@ConfigurationProperties("lockstep")
public class LockstepProperties extends ClientProperties {
    /** Whether Lockstep configures anything. */
    private boolean enabled = true;

    /** How long @Locked methods and the LockTemplate wait for a lock. */
    private Duration wait = Duration.ofSeconds(1);

    /** The behaviour if a lock is to be acquired by a caller that is in a transaction already. */
    private CallerTransaction transaction = CallerTransaction.WARN;

    /** More clients, by bean name, for @Locked(client = "…") and @Qualifier. */
    private final Map<String, ClientProperties> clients = new LinkedHashMap<>();

    /** Elections in which this application is a candidate, by name; it publishes LeaderGranted and LeaderRevoked. */
    private List<String> elections = new ArrayList<>();

    private final Health health = new Health();
    private final Endpoint endpoint = new Endpoint();
    private final ConsoleProperties console = new ConsoleProperties();

    /** Makes properties with the defaults. */
    public LockstepProperties() {}

    /**
     * Returns whether Lockstep configures anything.
     *
     * @return true if it does
     */
    public boolean isEnabled() {
        return enabled;
    }

    /**
     * Sets whether Lockstep configures anything.
     *
     * @param enabled true if it does
     */
    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /**
     * Returns how long to wait for a lock.
     *
     * @return the wait
     */
    public Duration getWait() {
        return wait;
    }

    /**
     * Sets how long to wait for a lock.
     *
     * @param wait the wait
     */
    public void setWait(Duration wait) {
        this.wait = wait;
    }

    /**
     * Returns what to do in a transaction of the caller.
     *
     * @return what to do
     */
    public CallerTransaction getTransaction() {
        return transaction;
    }

    /**
     * Sets what to do in a transaction of the caller.
     *
     * @param transaction what to do
     */
    public void setTransaction(CallerTransaction transaction) {
        this.transaction = transaction;
    }

    /**
     * Returns more clients.
     *
     * @return their settings, by bean name
     */
    public Map<String, ClientProperties> getClients() {
        return clients;
    }

    /**
     * Returns the elections in which this application is a candidate.
     *
     * @return their names
     */
    public List<String> getElections() {
        return elections;
    }

    /**
     * Sets the elections in which this application is a candidate.
     *
     * @param elections their names
     */
    public void setElections(List<String> elections) {
        this.elections = elections;
    }

    /**
     * Returns the settings of the health indicator.
     *
     * @return the settings
     */
    public Health getHealth() {
        return health;
    }

    /**
     * Returns the settings of the endpoint.
     *
     * @return the settings
     */
    public Endpoint getEndpoint() {
        return endpoint;
    }

    /**
     * Returns the settings of the console.
     *
     * @return the settings
     */
    public ConsoleProperties getConsole() {
        return console;
    }

    /** The console. */
    public static class ConsoleProperties {
        /** Whether the console can release locks by force. */
        private boolean allowRelease;

        /** Makes settings with the defaults. */
        public ConsoleProperties() {}

        /**
         * Returns whether the console can release locks by force.
         *
         * @return true if it can
         */
        public boolean isAllowRelease() {
            return allowRelease;
        }

        /**
         * Sets whether the console can release locks by force.
         *
         * @param allowRelease true if it can
         */
        public void setAllowRelease(boolean allowRelease) {
            this.allowRelease = allowRelease;
        }
    }

    /** The health indicator. */
    public static class Health {
        /** How long the engine may take to answer. */
        private Duration timeout = Duration.ofSeconds(2);

        /** The status while the fallback is in use. */
        private String fallbackStatus = "UP";

        /** Makes settings with the defaults. */
        public Health() {}

        /**
         * Returns how long the engine may take.
         *
         * @return the time
         */
        public Duration getTimeout() {
            return timeout;
        }

        /**
         * Sets how long the engine may take.
         *
         * @param timeout from 1 millisecond to 20 days
         */
        public void setTimeout(Duration timeout) {
            this.timeout = Durations.requireTimeout(timeout, "lockstep.health.timeout");
        }

        /**
         * Returns the status while the fallback is in use.
         *
         * @return the status
         */
        public String getFallbackStatus() {
            return fallbackStatus;
        }

        /**
         * Sets the status while the fallback is in use.
         *
         * @param fallbackStatus the status
         */
        public void setFallbackStatus(String fallbackStatus) {
            this.fallbackStatus = fallbackStatus;
        }
    }

    /** The endpoint. */
    public static class Endpoint {
        /** Whether the endpoint can release locks by force. */
        private boolean forceRelease;

        /** Makes settings with the defaults. */
        public Endpoint() {}

        /**
         * Returns whether the endpoint can release locks by force.
         *
         * @return true if it can
         */
        public boolean isForceRelease() {
            return forceRelease;
        }

        /**
         * Sets whether the endpoint can release locks by force.
         *
         * @param forceRelease true if it can
         */
        public void setForceRelease(boolean forceRelease) {
            this.forceRelease = forceRelease;
        }
    }
}
