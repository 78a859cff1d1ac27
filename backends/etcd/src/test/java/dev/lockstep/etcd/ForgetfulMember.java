package dev.lockstep.etcd;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.WatchResponse;
import dev.lockstep.servers.EtcdServer;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/** Passes everything on to a real member, but drops the events of deleted claims, as etcd can (#18089, #19179). */
final class ForgetfulMember implements AutoCloseable {
    private final ManagedChannel channel;
    private final Server server;
    private final AtomicInteger watches = new AtomicInteger();
    private final AtomicInteger dropped = new AtomicInteger();

    ForgetfulMember(EtcdServer member) throws IOException {
        channel = NettyChannelBuilder.forTarget("dns:///" + member.address())
                .usePlaintext()
                .build();
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .fallbackHandlerRegistry(new HandlerRegistry() {
                    @Override
                    public ServerMethodDefinition<?, ?> lookupMethod(String method, String authority) {
                        MethodDescriptor<byte[], byte[]> any = MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                                .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                                .setFullMethodName(method)
                                .build();
                        return ServerMethodDefinition.create(any, (call, headers) -> pass(any, call, headers));
                    }
                })
                .build()
                .start();
    }

    String address() {
        return "127.0.0.1:" + server.getPort();
    }

    /** How many watches have come into place. */
    int watches() {
        return watches.get();
    }

    /** How many events were dropped. */
    int dropped() {
        return dropped.get();
    }

    private ServerCall.Listener<byte[]> pass(
            MethodDescriptor<byte[], byte[]> method, ServerCall<byte[], byte[]> from, Metadata headers) {
        ClientCall<byte[], byte[]> to = channel.newCall(method, CallOptions.DEFAULT);
        boolean watch = method.getFullMethodName().endsWith("/Watch");
        to.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onHeaders(Metadata answered) {
                        from.sendHeaders(answered);
                    }

                    @Override
                    public void onMessage(byte[] message) {
                        from.sendMessage(watch ? withoutDeletions(message) : message);
                        to.request(1);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        from.close(status, trailers);
                    }
                },
                headers);
        to.request(1);
        from.request(1);
        return new ServerCall.Listener<>() {
            @Override
            public void onMessage(byte[] message) {
                to.sendMessage(message);
                from.request(1);
            }

            @Override
            public void onHalfClose() {
                to.halfClose();
            }

            @Override
            public void onCancel() {
                to.cancel("cancelled", null);
            }
        };
    }

    private byte[] withoutDeletions(byte[] message) {
        try {
            WatchResponse all = WatchResponse.parseFrom(message);
            if (all.getCreated()) {
                watches.incrementAndGet();
            }
            WatchResponse.Builder some = all.toBuilder().clearEvents();
            for (Event event : all.getEventsList()) {
                if (event.getType() == Event.EventType.DELETE
                        && event.getKv().getKey().toStringUtf8().contains("/lock/")) {
                    dropped.incrementAndGet();
                } else {
                    some.addEvents(event);
                }
            }
            return some.build().toByteArray();
        } catch (InvalidProtocolBufferException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
        channel.shutdownNow();
    }

    /** Messages as they are. */
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
