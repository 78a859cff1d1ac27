package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate authority made for tests, with one certificate for servers on the loopback address and one for clients,
 * as PEM files and as PKCS#12 stores. They are made once and kept in the user's cache. Thread-safe.
 */
public final class TestCertificates {
    /** The password of the PKCS#12 stores. */
    public static final String PASSWORD = "changeit";

    /** The common name in the client's certificate. */
    public static final String CLIENT_NAME = "client";

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /** Changes with what is made, so that older ones are not used. */
    private static final String VERSION = "1";

    private final Path directory;
    private final SSLContext clientContext;

    private TestCertificates(Path directory) throws IOException, GeneralSecurityException {
        this.directory = directory;
        this.clientContext = context(load(clientStore()), load(trustStore()));
    }

    /**
     * The certificates of the usual authority.
     *
     * @return certificates that nothing but tests trusts
     */
    public static TestCertificates get() {
        return get("usual");
    }

    /**
     * The certificates of some authority; a client that trusts another one does not trust them.
     *
     * @param authority its name
     * @return certificates that nothing but tests trusts
     */
    public static TestCertificates get(String authority) {
        try {
            String entry = "certificates-" + authority + "-" + VERSION;
            return new TestCertificates(ServerCache.ofUser().get(entry, (content, work) -> make(content, work)));
        } catch (IOException | GeneralSecurityException e) {
            throw new ServerException("cannot make certificates", e);
        }
    }

    private static String make(Path directory, Path work) throws IOException {
        Path all = work.resolve("all.p12");
        makePair(all, "ca", "CN=Lockstep test CA", "-ext", "bc:c");
        makePair(all, "server", "CN=localhost", "-signer", "ca", "-ext", "san=ip:127.0.0.1,dns:localhost");
        makePair(all, "client", "CN=" + CLIENT_NAME, "-signer", "ca", "-ext", "eku=clientAuth");
        try {
            KeyStore store = load(all);
            writePem(
                    directory.resolve("ca.pem"),
                    "CERTIFICATE",
                    store.getCertificate("ca").getEncoded());
            KeyStore trust = newStore();
            trust.setCertificateEntry("ca", store.getCertificate("ca"));
            write(trust, directory.resolve("trust.p12"));
            export(store, "server", directory);
            export(store, "client", directory);
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
        return VERSION;
    }

    /**
     * The authority's certificate.
     *
     * @return a PEM file
     */
    public Path caCertificate() {
        return directory.resolve("ca.pem");
    }

    /**
     * The servers' certificate, for 127.0.0.1 and localhost.
     *
     * @return a PEM file
     */
    public Path serverCertificate() {
        return directory.resolve("server.pem");
    }

    /**
     * The servers' key.
     *
     * @return a PEM file, PKCS#8 without a password
     */
    public Path serverKey() {
        return directory.resolve("server-key.pem");
    }

    /**
     * The clients' certificate.
     *
     * @return a PEM file
     */
    public Path clientCertificate() {
        return directory.resolve("client.pem");
    }

    /**
     * The clients' key.
     *
     * @return a PEM file, PKCS#8 without a password
     */
    public Path clientKey() {
        return directory.resolve("client-key.pem");
    }

    /**
     * The servers' key and certificate.
     *
     * @return a PKCS#12 store
     */
    public Path serverStore() {
        return directory.resolve("server.p12");
    }

    /**
     * The clients' key and certificate.
     *
     * @return a PKCS#12 store
     */
    public Path clientStore() {
        return directory.resolve("client.p12");
    }

    /**
     * The authority as the one to trust.
     *
     * @return a PKCS#12 store
     */
    public Path trustStore() {
        return directory.resolve("trust.p12");
    }

    /**
     * The settings that a client in this JVM needs: trust in the authority, and the client's key.
     *
     * @return a context for clients
     */
    public SSLContext clientContext() {
        return clientContext;
    }

    private static void makePair(Path store, String alias, String subject, String... more) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        command.addAll(List.of("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "3650"));
        command.addAll(List.of("-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", PASSWORD));
        command.addAll(List.of("-alias", alias, "-dname", subject));
        command.addAll(List.of(more));
        Commands.run(store.resolveSibling("."), TIMEOUT, command);
    }

    private static void export(KeyStore all, String alias, Path directory)
            throws IOException, GeneralSecurityException {
        Key secret = all.getKey(alias, PASSWORD.toCharArray());
        writePem(
                directory.resolve(alias + ".pem"),
                "CERTIFICATE",
                all.getCertificate(alias).getEncoded());
        writePem(directory.resolve(alias + "-key.pem"), "PRIVATE KEY", secret.getEncoded());
        KeyStore own = newStore();
        own.setKeyEntry(alias, secret, PASSWORD.toCharArray(), all.getCertificateChain(alias));
        write(own, directory.resolve(alias + ".p12"));
    }

    private static KeyStore load(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    private static SSLContext context(KeyStore own, KeyStore trust) throws GeneralSecurityException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, PASSWORD.toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(trust);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    private static KeyStore newStore() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static void write(KeyStore store, Path file) throws IOException, GeneralSecurityException {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
    }

    private static void writePem(Path file, String what, byte[] bytes) throws IOException {
        String body = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(bytes);
        Files.writeString(file, "-----BEGIN " + what + "-----\n" + body + "\n-----END " + what + "-----\n");
    }
}
