package dev.lockstep.etcd;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * An etcd cluster, for {@link dev.lockstep.LockClient.Builder#backend}: the alternative to a URL, for settings that
 * should not be in one.
 *
 * <pre>{@code
 * LockClient.builder()
 *         .backend(EtcdEngine.at("etcd-a:2379", "etcd-b:2379", "etcd-c:2379")
 *                 .tls(Path.of("ca.pem"))
 *                 .user("orders", password))
 *         .connect();
 * }</pre>
 *
 * <p>Immutable: each method returns a new engine. Nothing connects before the client does; then {@link
 * dev.lockstep.LockUnavailableException} says that no member answered, and {@link LockConfigurationException} that the
 * credentials or certificates cannot work.
 */
public final class EtcdEngine implements BackendFactory {
    private static final int DEFAULT_PORT = 2379;
    private static final Pattern ENDPOINT = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?");

    private final Settings settings;

    EtcdEngine(Settings settings) {
        this.settings = settings;
    }

    /**
     * A cluster without TLS.
     *
     * @param endpoints its members, each {@code host} or {@code host:port}; the port is 2379 unless given. One is
     *     enough; with several, the client keeps working when one is down
     * @return the engine
     * @throws LockConfigurationException if there is none, or one is not of that form
     */
    public static EtcdEngine at(String... endpoints) {
        return new EtcdEngine(new Settings(parse(Arrays.asList(endpoints)), false, null, null, null, null, null));
    }

    /**
     * Speaks TLS, and trusts the authorities that the JVM trusts.
     *
     * @return a new engine
     */
    public EtcdEngine tls() {
        return new EtcdEngine(new Settings(
                settings.endpoints(),
                true,
                null,
                settings.certificate(),
                settings.key(),
                settings.user(),
                settings.password()));
    }

    /**
     * Speaks TLS, and trusts the authorities of a file.
     *
     * @param authority certificates in PEM
     * @return a new engine
     */
    public EtcdEngine tls(Path authority) {
        return new EtcdEngine(new Settings(
                settings.endpoints(),
                true,
                authority,
                settings.certificate(),
                settings.key(),
                settings.user(),
                settings.password()));
    }

    /**
     * Presents a client certificate.
     *
     * @param certificate the certificate, or a chain that begins with it, in PEM
     * @param key its private key in PEM (PKCS#8), without a password
     * @return a new engine
     */
    public EtcdEngine clientCertificate(Path certificate, Path key) {
        return new EtcdEngine(new Settings(
                settings.endpoints(),
                settings.tls(),
                settings.authority(),
                certificate,
                key,
                settings.user(),
                settings.password()));
    }

    /**
     * Logs in. The client renews etcd's login token as needed.
     *
     * @param user the user's name; it needs read and write access to the prefix {@code lockstep/}
     * @param password the password
     * @return a new engine
     */
    public EtcdEngine user(String user, String password) {
        return user(user, () -> password);
    }

    /**
     * Logs in with a password that may change. The client renews etcd's login token as needed, with the password of
     * that time.
     *
     * @param user the user's name; it needs read and write access to the prefix {@code lockstep/}
     * @param password supplies the password at each login; it must return at once
     * @return a new engine
     */
    public EtcdEngine user(String user, Supplier<String> password) {
        return new EtcdEngine(new Settings(
                settings.endpoints(),
                settings.tls(),
                settings.authority(),
                settings.certificate(),
                settings.key(),
                user,
                password));
    }

    @Override
    public LockBackend open(BackendContext context) {
        EtcdBackend backend = new EtcdBackend(settings, context);
        backend.open();
        return backend;
    }

    @Override
    public String engine() {
        return "etcd";
    }

    @Override
    public String address() {
        return settings.toString();
    }

    /** Names the cluster, without credentials. */
    @Override
    public String toString() {
        return settings.toString();
    }

    /** Checks endpoints, and gives each its port. */
    static List<String> parse(List<String> endpoints) {
        if (endpoints.isEmpty()) {
            throw malformed();
        }
        return endpoints.stream().map(EtcdEngine::parse).toList();
    }

    private static String parse(String endpoint) {
        var parts = ENDPOINT.matcher(endpoint);
        if (!parts.matches()) {
            throw malformed();
        }
        int port = parts.group(2) == null ? DEFAULT_PORT : Integer.parseInt(parts.group(2));
        if (port < 1 || port > 65_535) {
            throw malformed();
        }
        return parts.group(1) + ":" + port;
    }

    private static LockConfigurationException malformed() {
        return new LockConfigurationException(
                null, "The endpoints of an etcd cluster are host or host:port, at least one, separated by commas.");
    }
}
