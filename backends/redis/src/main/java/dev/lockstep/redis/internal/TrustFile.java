package dev.lockstep.redis.internal;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sockets that trust the authorities of a PEM file, as it is at that time: it may be replaced without a restart.
 * While it cannot be read, its earlier content is used. Safe for use by many threads.
 */
final class TrustFile extends SSLSocketFactory {
    private static final Logger log = LoggerFactory.getLogger(TrustFile.class);

    private final Path file;
    private byte[] content; // guarded by this
    private SSLSocketFactory sockets; // guarded by this

    TrustFile(Path file) throws IOException, GeneralSecurityException {
        this.file = file;
        this.content = Files.readAllBytes(file);
        this.sockets = trusting(content);
    }

    private synchronized SSLSocketFactory current() {
        try {
            byte[] now = Files.readAllBytes(file);
            if (!Arrays.equals(now, content)) {
                sockets = trusting(now);
                content = now;
            }
        } catch (IOException | GeneralSecurityException e) {
            log.warn("The file of the option ca cannot be used: {}. Its earlier content is used.", e.toString());
        }
        return sockets;
    }

    private static SSLSocketFactory trusting(byte[] pem) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        int count = 0;
        for (Certificate authority :
                CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem))) {
            trusted.setCertificateEntry("ca-" + count++, authority);
        }
        if (count == 0) {
            throw new CertificateException("it has no certificate");
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    @Override
    public String[] getDefaultCipherSuites() {
        return current().getDefaultCipherSuites();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return current().getSupportedCipherSuites();
    }

    @Override
    public Socket createSocket(Socket socket, String host, int port, boolean autoClose) throws IOException {
        return current().createSocket(socket, host, port, autoClose);
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return current().createSocket(host, port);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
        return current().createSocket(host, port, from, fromPort);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return current().createSocket(host, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException {
        return current().createSocket(host, port, from, fromPort);
    }
}
