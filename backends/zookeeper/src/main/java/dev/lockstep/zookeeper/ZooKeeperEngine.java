package dev.lockstep.zookeeper;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStoreException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.common.X509Util;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Locks on ZooKeeper, for applications that need more than a URL:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *         .backend(ZooKeeperEngine.at("zk1:2181,zk2:2181,zk3:2181/apps").digest("orders", password))
 *         .connect();
 * }</pre>
 *
 * <p>The same as a URL: {@code zookeeper://orders:PASSWORD@zk1:2181,zk2:2181,zk3:2181/apps}. Its options, after a
 * question mark and separated by {@code &}:
 *
 * <ul>
 *   <li>{@code passwordFile=FILE}: {@link #digest(String, Supplier)}, with {@code user@} before the servers
 *   <li>{@code queue=off}: {@link #withoutQueue()}
 *   <li>{@code tls=on}: {@link #tls()}
 *   <li>{@code sasl=CONTEXT}: {@link #sasl(String)}
 *   <li>{@code acl=open} or {@code acl=creator}: {@link #acl(List)} with the usual lists
 *   <li>{@code zookeeper.ANYTHING=VALUE}: {@link #setting(String, String)}
 * </ul>
 *
 * <p>Immutable: every method returns a new engine. Safe for use by many threads. {@link #toString()} names the servers
 * and the chroot, without credentials.
 */
public final class ZooKeeperEngine implements BackendFactory {
    private static final String DEFAULT_MAX_REPLY = Integer.toString(64 * 1024 * 1024);

    /** The first connection must stand within it; less than any server grants. */
    private static final int LEAST_TIMEOUT_MILLIS = 100;

    private final String connectString;
    private final boolean queued;
    private final @Nullable List<ACL> acl;
    private final @Nullable Supplier<String> digest;
    private final Map<String, String> settings;

    private ZooKeeperEngine(
            String connectString,
            boolean queued,
            @Nullable List<ACL> acl,
            @Nullable Supplier<String> digest,
            Map<String, String> settings) {
        this.connectString = connectString;
        this.queued = queued;
        this.acl = acl;
        this.digest = digest;
        this.settings = settings;
    }

    /**
     * An engine at some servers, with a queue for each lock.
     *
     * @param connectString {@code host:port}, several are separated by commas, optionally followed by a chroot, as for
     *     ZooKeeper's clients; the port is 2181 unless given
     * @return the engine, not connected
     * @throws LockConfigurationException if there is no such host, port or path
     */
    public static ZooKeeperEngine at(String connectString) {
        checkServers(connectString);
        return new ZooKeeperEngine(connectString, true, null, null, Map.of());
    }

    private static void checkServers(String connectString) {
        try {
            int slash = connectString.indexOf('/');
            if (slash >= 0 && slash + 1 < connectString.length()) {
                PathUtils.validatePath(connectString.substring(slash));
            }
            Collection<InetSocketAddress> servers = new ConnectStringParser(connectString).getServerAddresses();
            for (InetSocketAddress server : servers) {
                if (!server.getHostString().matches("[A-Za-z0-9._:%-]+") || server.getPort() == 0) {
                    throw new IllegalArgumentException();
                }
            }
            if (servers.isEmpty()) {
                throw new IllegalArgumentException();
            }
        } catch (IllegalArgumentException e) {
            // Without the cause, which may repeat a password that stands in the wrong place.
            throw new LockConfigurationException(
                    null, "Not an address of ZooKeeper. Expected host:port,host:port/chroot, the chroot if any.");
        }
    }

    /**
     * Without a queue: each lock is one ephemeral node, and the client that makes it has the lock. Each release wakes
     * all waiters; there are neither fair nor shared nor sticky locks, and no semaphores. All clients of a lock must
     * choose alike.
     *
     * @return a new engine
     */
    public ZooKeeperEngine withoutQueue() {
        return new ZooKeeperEngine(connectString, false, acl, digest, settings);
    }

    /**
     * Authenticates by name and password (ZooKeeper's scheme {@code digest}). Only this user may then touch the nodes of
     * the locks, unless {@link #acl} says otherwise. ZooKeeper has no list of users for it: a wrong password shows when a
     * node refuses it.
     *
     * @param user the user's name
     * @param password the user's password
     * @return a new engine
     */
    public ZooKeeperEngine digest(String user, String password) {
        return digest(user, () -> password);
    }

    /**
     * Authenticates by name and a password that may change. It is asked for at each connection, and again when a node refuses the
     * client; a session that has presented an old password presents the new one in addition. Nodes keep the access
     * lists that they were created with: change these first, to let both passwords in. As {@code passwordFile} in a
     * URL, which names a file.
     *
     * @param user the user's name
     * @param password supplies the password; it must return at once
     * @return a new engine
     */
    public ZooKeeperEngine digest(String user, Supplier<String> password) {
        Objects.requireNonNull(password, "password");
        return new ZooKeeperEngine(connectString, queued, acl, () -> user + ":" + password.get(), settings);
    }

    /**
     * Authenticates by SASL, with a context of the JVM's login configuration (JAAS). Only this user may then touch the
     * nodes of the locks, unless {@link #acl} says otherwise. Without this, no login is tried, whatever that configuration has.
     *
     * @param loginContext the context's name, {@code Client} as a rule
     * @return a new engine
     */
    public ZooKeeperEngine sasl(String loginContext) {
        return setting(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, loginContext);
    }

    /**
     * Encrypts the connection. Where the JVM's trust store is not the right one, set {@code
     * zookeeper.ssl.trustStore.location} and {@code .password}; where the server wants a certificate, {@code
     * zookeeper.ssl.keyStore.location} and {@code .password}.
     *
     * @return a new engine
     */
    public ZooKeeperEngine tls() {
        return setting(ZKClientConfig.SECURE_CLIENT, "true")
                .setting(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
    }

    /**
     * Sets the access list of the nodes of the locks, of their namespaces, and of the one above these.
     *
     * @param list what new nodes get; unless set, only the creator may touch namespaces and locks if there are
     *     credentials, and everybody otherwise
     * @return a new engine
     */
    public ZooKeeperEngine acl(List<ACL> list) {
        return new ZooKeeperEngine(connectString, queued, List.copyOf(list), digest, settings);
    }

    /**
     * Sets a property of ZooKeeper's own client, for this engine alone.
     *
     * @param key as {@code zookeeper.ssl.trustStore.location}
     * @param value its value
     * @return a new engine
     */
    public ZooKeeperEngine setting(String key, String value) {
        Map<String, String> more = new TreeMap<>(settings);
        more.put(key, value);
        return new ZooKeeperEngine(connectString, queued, acl, digest, more);
    }

    @Override
    public LockBackend open(BackendContext context) {
        requireTrusted();
        ZooKeeperBackend backend = new ZooKeeperBackend(this, context);
        backend.open();
        return backend;
    }

    @Override
    public String engine() {
        return "zookeeper";
    }

    @Override
    public String address() {
        return connectString;
    }

    boolean isQueued() {
        return queued;
    }

    /** The length of what the server puts before all paths. */
    int chrootBytes() {
        int slash = connectString.indexOf('/');
        return slash < 0 ? 0 : connectString.substring(slash).getBytes(StandardCharsets.UTF_8).length;
    }

    Collection<InetSocketAddress> servers() {
        return new ConnectStringParser(connectString).getServerAddresses();
    }

    List<ACL> acl() {
        if (acl != null) {
            return acl;
        }
        boolean known = digest != null || settings.containsKey(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY);
        return known ? ZooDefs.Ids.CREATOR_ALL_ACL : ZooDefs.Ids.OPEN_ACL_UNSAFE;
    }

    /** The node above all namespaces, which users share even if each namespace is one user's. */
    List<ACL> rootAcl() {
        return acl != null ? acl : ZooDefs.Ids.OPEN_ACL_UNSAFE;
    }

    /** With a trust store that it cannot use, ZooKeeper's client would fail to connect again and again without saying why. */
    private void requireTrusted() {
        ZKClientConfig config = config();
        try (ClientX509Util tls = new ClientX509Util()) {
            String file = config.getProperty(tls.getSslTruststoreLocationProperty());
            if (file == null || !config.getBoolean(ZKClientConfig.SECURE_CLIENT)) {
                return;
            }
            String password = tls.getPasswordFromConfigPropertyOrFile(
                    config, tls.getSslTruststorePasswdProperty(), tls.getSslTruststorePasswdPathProperty());
            String type = config.getProperty(tls.getSslTruststoreTypeProperty());
            if (X509Util.loadTrustStore(file, password, type).size() == 0) {
                throw new KeyStoreException("it has no certificate");
            }
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new LockConfigurationException(
                    null,
                    "The file of zookeeper.ssl.trustStore.location cannot be used: " + e
                            + ". Check that it has certificates, its type, and zookeeper.ssl.trustStore.password.",
                    e);
        }
    }

    /**
     * Begins to connect; returns at once.
     *
     * @throws LockUnavailableException if not even that is possible
     */
    ZooKeeper connect(Duration timeout, Watcher watcher, HostProvider hosts) {
        int millis = (int) Math.max(LEAST_TIMEOUT_MILLIS, Math.min(timeout.toMillis(), Integer.MAX_VALUE));
        try {
            ZooKeeper zooKeeper = new ZooKeeper(connectString, millis, watcher, false, hosts, config());
            return zooKeeper;
        } catch (IOException e) {
            throw new LockUnavailableException(
                    null,
                    "ZooKeeper's client for " + this + " cannot be started: " + e.getMessage()
                            + ". Check the process's limit of open files, and the properties given as zookeeper.SOMETHING.",
                    e);
        }
    }

    /**
     * Shows user and password, unless they are those that a session has shown already.
     *
     * @param shown what it has shown last; null for nothing
     * @return what it has shown last by now
     */
    @Nullable
    String authenticate(ZooKeeper zooKeeper, @Nullable String shown) {
        String now = digest == null ? null : digest.get();
        if (now != null && !now.equals(shown)) {
            zooKeeper.addAuthInfo("digest", now.getBytes(StandardCharsets.UTF_8));
        }
        return now;
    }

    /** The settings of ZooKeeper's own client. */
    ZKClientConfig config() {
        ZKClientConfig config = new ZKClientConfig();
        // A list of many locks is longer than the usual megabyte.
        config.setProperty("jute.maxbuffer", DEFAULT_MAX_REPLY);
        settings.forEach(config::setProperty);
        if (config.getProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY) == null
                && config.getProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY) == null) {
            // Otherwise a login configuration that is there for something else would make ZooKeeper's client fail.
            config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        }
        return config;
    }

    /** Servers and chroot. */
    @Override
    public String toString() {
        return connectString;
    }
}
