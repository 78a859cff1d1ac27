package dev.lockstep.benchmarks.contenders;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import dev.lockstep.benchmarks.worker.Contender;
import dev.lockstep.etcd.proto.Etcd.Compare;
import dev.lockstep.etcd.proto.Etcd.DeleteRangeRequest;
import dev.lockstep.etcd.proto.Etcd.DeleteRangeResponse;
import dev.lockstep.etcd.proto.Etcd.LeaseGrantRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseGrantResponse;
import dev.lockstep.etcd.proto.Etcd.PutRequest;
import dev.lockstep.etcd.proto.Etcd.RequestOp;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.lite.ProtoLiteUtils;
import io.grpc.stub.ClientCalls;
import java.net.URI;

/** gRPC with two requests: a transaction that puts a key if there is none, and a delete. Nobody waits. */
public final class EtcdFloor implements Contender {
    private static final MethodDescriptor<TxnRequest, TxnResponse> TXN =
            method("KV/Txn", TxnRequest.getDefaultInstance(), TxnResponse.getDefaultInstance());
    private static final MethodDescriptor<DeleteRangeRequest, DeleteRangeResponse> DELETE =
            method("KV/DeleteRange", DeleteRangeRequest.getDefaultInstance(), DeleteRangeResponse.getDefaultInstance());
    private static final MethodDescriptor<LeaseGrantRequest, LeaseGrantResponse> GRANT =
            method("Lease/LeaseGrant", LeaseGrantRequest.getDefaultInstance(), LeaseGrantResponse.getDefaultInstance());

    /** Longer than any run, so that nothing needs to be renewed. */
    private static final long TTL_SECONDS = 3600;

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public EtcdFloor(String variant) {}

    @Override
    public Client open(String url) {
        URI uri = URI.create(url);
        ManagedChannel channel = NettyChannelBuilder.forAddress(uri.getHost(), uri.getPort())
                .usePlaintext()
                .build();
        long lease = call(
                        channel,
                        GRANT,
                        LeaseGrantRequest.newBuilder().setTTL(TTL_SECONDS).build())
                .getID();
        return new Client() {
            @Override
            public Mutex mutex(String name) {
                return new Key(channel, ByteString.copyFromUtf8("floor/" + name), lease);
            }

            @Override
            public void close() {
                channel.shutdownNow();
            }
        };
    }

    private record Key(ManagedChannel channel, ByteString key, long lease) implements Mutex {
        @Override
        public void lock() {
            TxnRequest request = TxnRequest.newBuilder()
                    .addCompare(Compare.newBuilder()
                            .setKey(key)
                            .setTarget(Compare.CompareTarget.CREATE)
                            .setCreateRevision(0))
                    .addSuccess(RequestOp.newBuilder()
                            .setRequestPut(PutRequest.newBuilder().setKey(key).setLease(lease)))
                    .build();
            if (!call(channel, TXN, request).getSucceeded()) {
                throw new IllegalStateException(key.toStringUtf8() + " is held");
            }
        }

        @Override
        public void unlock() {
            call(channel, DELETE, DeleteRangeRequest.newBuilder().setKey(key).build());
        }
    }

    private static <Q, A> A call(ManagedChannel channel, MethodDescriptor<Q, A> method, Q request) {
        return ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
    }

    private static <Q extends MessageLite, A extends MessageLite> MethodDescriptor<Q, A> method(
            String name, Q request, A answer) {
        return MethodDescriptor.<Q, A>newBuilder()
                .setType(MethodType.UNARY)
                .setFullMethodName("etcdserverpb." + name)
                .setRequestMarshaller(ProtoLiteUtils.marshaller(request))
                .setResponseMarshaller(ProtoLiteUtils.marshaller(answer))
                .build();
    }
}
