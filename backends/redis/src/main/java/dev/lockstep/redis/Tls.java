package dev.lockstep.redis;

import dev.lockstep.LockConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.DefaultJedisClientConfig;

/** Whom to trust, and that the name in a server's certificate must be its own. */
final class Tls {
    private final SSLSocketFactory sockets;

    private Tls(SSLSocketFactory sockets) {
        this.sockets = sockets;
    }

    /** Trusts those whom the JVM trusts. */
    static Tls usual() {
        return new Tls((SSLSocketFactory) SSLSocketFactory.getDefault());
    }

    /** Trusts the authorities of a PEM file, and nobody else. */
    static Tls trusting(String file) {
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            int count = 0;
            for (Certificate authority : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                trusted.setCertificateEntry("ca-" + count++, authority);
            }
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return new Tls(context.getSocketFactory());
        } catch (IOException | GeneralSecurityException | InvalidPathException e) {
            throw new LockConfigurationException(null, "The option ca is not a PEM file with certificates: " + e, e);
        }
    }

    void apply(DefaultJedisClientConfig.Builder config) {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        config.ssl(true).sslSocketFactory(sockets).sslParameters(parameters);
    }
}
