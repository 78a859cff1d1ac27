package dev.lockstep.redis.internal;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisAccessControlException;

/** Refuses servers on which locks would not be safe, before the first lock. */
public final class StartUpCheck {
    private static final Logger log = LoggerFactory.getLogger(StartUpCheck.class);
    private static final int OLDEST_MAJOR = 6;
    private static final int OLDEST_MINOR = 2;

    private StartUpCheck() {}

    /**
     * Asks each primary how it is set up.
     *
     * @param eviction whether a policy that removes locks is accepted
     * @return what the last of them reported; nothing if it may not be asked
     */
    public static Map<String, String> run(Link link, boolean eviction) throws Failure {
        boolean cluster = link.route().isCluster();
        Map<String, String> facts = new HashMap<>();
        link.callAll(link.requestDeadlineNanos(), connection -> {
            try {
                byte[] report = (byte[]) connection.executeCommand(Protocol.Command.INFO);
                String text = new String(report, StandardCharsets.UTF_8);
                String server = String.valueOf(JedisAccess.address(connection));
                Map<String, String> told = facts(text);
                if (link.route().isLedToPrimaries() && isReplica(told)) {
                    throw new LockUnavailableException(
                            null,
                            product(told) + " " + server
                                    + " has just become a replica: a failover is under way. Try again.");
                }
                facts.putAll(check(text, server, cluster, eviction));
            } catch (JedisAccessControlException e) {
                if (!String.valueOf(e.getMessage()).startsWith("NOPERM")) {
                    throw e;
                }
                log.warn(
                        "Redis or Valkey {}: the user has no permission for INFO, so version, role and eviction policy are not checked.",
                        JedisAccess.address(connection));
            }
            return true;
        });
        return facts;
    }

    /** Judges a server by its own report, and returns it as names and values. */
    public static Map<String, String> check(String report, String server, boolean cluster, boolean eviction) {
        Map<String, String> facts = facts(report);
        String version = facts.getOrDefault("redis_version", "");
        if (isTooOld(version)) {
            throw refused(facts, server, "runs version " + version + ". Lockstep needs Redis 6.2 or newer, or Valkey.");
        }
        if (isReplica(facts)) {
            throw refused(facts, server, "is a read-only replica. Connect to its primary, or through Sentinel.");
        }
        if (!cluster && facts.getOrDefault("redis_mode", "").equals("cluster")) {
            throw refused(facts, server, "is a node of a cluster. Use a redis-cluster:// URL.");
        }
        if (mayEvict(facts)) {
            String policy = facts.get("maxmemory_policy");
            if (!eviction) {
                throw refused(
                        facts,
                        server,
                        "has the eviction policy " + policy + ", which removes locks when memory is short. Set"
                                + " maxmemory-policy to noeviction, or use another server for locks. If that cannot be"
                                + " done and a lock may be lost, accept it with the option eviction=accept.");
            }
            log.warn(
                    "{} {} has the eviction policy {}: when its memory is short, it removes locks that are held, and"
                            + " grants them to others. This was accepted by eviction=accept.",
                    product(facts),
                    server,
                    policy);
        }
        return facts;
    }

    /** Whether a server removes keys that have not expired, by its own report. */
    public static boolean mayEvict(Map<String, String> facts) {
        return !facts.getOrDefault("maxmemory_policy", "noeviction").equals("noeviction")
                && !facts.getOrDefault("maxmemory", "0").equals("0");
    }

    private static boolean isReplica(Map<String, String> facts) {
        return facts.getOrDefault("role", "master").equals("slave");
    }

    /** The values of a report, by name. */
    public static Map<String, String> facts(String report) {
        Map<String, String> facts = new HashMap<>();
        report.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                facts.put(line.substring(0, colon), line.substring(colon + 1).trim());
            }
        });
        return facts;
    }

    /** The name of the product that a server says it is. */
    public static String product(Map<String, String> facts) {
        return facts.containsKey("valkey_version") ? "Valkey" : "Redis";
    }

    /** A server's version, empty if it is unknown. Valkey also reports a version of Redis, for old clients. */
    public static String version(Map<String, String> facts) {
        return facts.getOrDefault("valkey_version", facts.getOrDefault("redis_version", ""));
    }

    /** Product and version, such as "Valkey 9.1.2"; empty if they are unknown. */
    public static String productAndVersion(Map<String, String> facts) {
        String version = version(facts);
        return version.isEmpty() ? "" : product(facts) + " " + version;
    }

    private static boolean isTooOld(String version) {
        String[] parts = version.split("\\.", -1);
        try {
            int major = Integer.parseInt(parts[0]);
            return major < OLDEST_MAJOR || (major == OLDEST_MAJOR && Integer.parseInt(parts[1]) < OLDEST_MINOR);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return false; // an unknown version is not refused
        }
    }

    private static LockConfigurationException refused(Map<String, String> facts, String server, String why) {
        return new LockConfigurationException(null, product(facts) + " " + server + " " + why);
    }
}
