package dev.lockstep.redis.internal;

import dev.lockstep.LockConfigurationException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;
import redis.clients.jedis.DefaultJedisClientConfig;

/** The trusted authorities, and the check that the name in a server's certificate is its own. */
public final class Tls {
    private final SSLSocketFactory sockets;

    private Tls(SSLSocketFactory sockets) {
        this.sockets = sockets;
    }

    /** Trusts the authorities that the JVM trusts. */
    static Tls usual() {
        return new Tls((SSLSocketFactory) SSLSocketFactory.getDefault());
    }

    /** Trusts the authorities of a PEM file, and nobody else. The file is read again for each connection. */
    static Tls trusting(String file) {
        try {
            return new Tls(new TrustFile(Path.of(file)));
        } catch (IOException | GeneralSecurityException | InvalidPathException e) {
            throw new LockConfigurationException(null, "The option ca is not a PEM file with certificates: " + e, e);
        }
    }

    void apply(DefaultJedisClientConfig.Builder config) {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        config.ssl(true).sslSocketFactory(sockets).sslParameters(parameters);
    }

    /** Whether TLS is why something failed: a certificate is not better the next time. */
    public static boolean isCauseOf(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof SSLException) {
                return true;
            }
        }
        return false;
    }
}
