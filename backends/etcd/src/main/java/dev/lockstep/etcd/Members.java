package dev.lockstep.etcd;

import dev.lockstep.LockConfigurationException;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes connections to the members of a cluster, one after the other, beginning with any. Called by one thread at a time. */
final class Members {
    /**
     * A member that has lost contact with the leader refuses such a request, and ends such a stream, instead of being
     * silent.
     */
    private static final Metadata.Key<String> HAS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private static final Logger log = LoggerFactory.getLogger(Members.class);
    private static final int MAX_ANSWER_BYTES = 64 << 20;

    private final Settings settings;
    private @Nullable SslContext tls; // from the certificate files as they were last read
    private final GrpcThreads threads;
    private int next;

    Members(Settings settings, String clientName) {
        this.settings = settings;
        this.tls = settings.tls() ? tls(settings) : null;
        this.threads = new GrpcThreads(clientName);
        this.next = ThreadLocalRandom.current().nextInt(settings.endpoints().size());
    }

    int count() {
        return settings.endpoints().size();
    }

    ManagedChannel connectNext() {
        String endpoint = settings.endpoints().get(next);
        next = (next + 1) % count();
        readCertificates();
        Metadata headers = new Metadata();
        headers.put(HAS_LEADER, "true");
        NettyChannelBuilder builder = threads.use(NettyChannelBuilder.forTarget("dns:///" + endpoint))
                .disableRetry()
                .maxInboundMessageSize(MAX_ANSWER_BYTES)
                .intercept(MetadataUtils.newAttachHeadersInterceptor(headers));
        return (tls == null ? builder.usePlaintext() : builder.sslContext(tls)).build();
    }

    /** The files may have been replaced. While they cannot be read, their earlier content is used. */
    private void readCertificates() {
        if (tls != null) {
            try {
                tls = tls(settings);
            } catch (LockConfigurationException e) {
                log.warn("{} Their earlier content is used.", e.getMessage());
            }
        }
    }

    /** Ends all connections, and waits until nothing of gRPC runs for them any more. */
    void close(Duration atMost) {
        threads.close(atMost);
    }

    private static SslContext tls(Settings settings) {
        try {
            SslContextBuilder builder = GrpcSslContexts.forClient();
            if (settings.authority() != null) {
                builder.trustManager(settings.authority().toFile());
            }
            if (settings.certificate() != null && settings.key() != null) {
                builder.keyManager(
                        settings.certificate().toFile(), settings.key().toFile());
            }
            return builder.build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new LockConfigurationException(
                    null,
                    "The certificates for " + settings + " cannot be used: " + e.getMessage()
                            + ". Expected are PEM files, the key in PKCS#8 and without a password.",
                    e);
        }
    }
}
