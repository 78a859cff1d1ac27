package dev.lockstep.etcd;

import com.google.protobuf.MessageLite;
import dev.lockstep.etcd.proto.Etcd.AuthenticateRequest;
import dev.lockstep.etcd.proto.Etcd.AuthenticateResponse;
import dev.lockstep.etcd.proto.Etcd.LeaseGrantRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseGrantResponse;
import dev.lockstep.etcd.proto.Etcd.LeaseKeepAliveRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseKeepAliveResponse;
import dev.lockstep.etcd.proto.Etcd.LeaseRevokeRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseRevokeResponse;
import dev.lockstep.etcd.proto.Etcd.LeaseTimeToLiveRequest;
import dev.lockstep.etcd.proto.Etcd.LeaseTimeToLiveResponse;
import dev.lockstep.etcd.proto.Etcd.MemberListRequest;
import dev.lockstep.etcd.proto.Etcd.MemberListResponse;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RangeResponse;
import dev.lockstep.etcd.proto.Etcd.StatusRequest;
import dev.lockstep.etcd.proto.Etcd.StatusResponse;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import dev.lockstep.etcd.proto.Etcd.WatchRequest;
import dev.lockstep.etcd.proto.Etcd.WatchResponse;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.lite.ProtoLiteUtils;

/** The methods of etcd that locks need: few enough to be written down rather than generated. */
final class Rpc {
    static final MethodDescriptor<RangeRequest, RangeResponse> RANGE =
            unary("KV/Range", RangeRequest.getDefaultInstance(), RangeResponse.getDefaultInstance());

    static final MethodDescriptor<TxnRequest, TxnResponse> TXN =
            unary("KV/Txn", TxnRequest.getDefaultInstance(), TxnResponse.getDefaultInstance());

    static final MethodDescriptor<LeaseGrantRequest, LeaseGrantResponse> LEASE_GRANT =
            unary("Lease/LeaseGrant", LeaseGrantRequest.getDefaultInstance(), LeaseGrantResponse.getDefaultInstance());

    static final MethodDescriptor<LeaseRevokeRequest, LeaseRevokeResponse> LEASE_REVOKE = unary(
            "Lease/LeaseRevoke", LeaseRevokeRequest.getDefaultInstance(), LeaseRevokeResponse.getDefaultInstance());

    static final MethodDescriptor<LeaseTimeToLiveRequest, LeaseTimeToLiveResponse> LEASE_TIME_TO_LIVE = unary(
            "Lease/LeaseTimeToLive",
            LeaseTimeToLiveRequest.getDefaultInstance(),
            LeaseTimeToLiveResponse.getDefaultInstance());

    /** A stream to the server, used for one request and its answer at a time: on the link that is the same. */
    static final MethodDescriptor<LeaseKeepAliveRequest, LeaseKeepAliveResponse> LEASE_KEEP_ALIVE = unary(
            "Lease/LeaseKeepAlive",
            LeaseKeepAliveRequest.getDefaultInstance(),
            LeaseKeepAliveResponse.getDefaultInstance());

    static final MethodDescriptor<AuthenticateRequest, AuthenticateResponse> AUTHENTICATE = unary(
            "Auth/Authenticate", AuthenticateRequest.getDefaultInstance(), AuthenticateResponse.getDefaultInstance());

    static final MethodDescriptor<StatusRequest, StatusResponse> STATUS =
            unary("Maintenance/Status", StatusRequest.getDefaultInstance(), StatusResponse.getDefaultInstance());

    static final MethodDescriptor<MemberListRequest, MemberListResponse> MEMBER_LIST = unary(
            "Cluster/MemberList", MemberListRequest.getDefaultInstance(), MemberListResponse.getDefaultInstance());

    static final MethodDescriptor<WatchRequest, WatchResponse> WATCH = method(
            MethodType.BIDI_STREAMING,
            "Watch/Watch",
            WatchRequest.getDefaultInstance(),
            WatchResponse.getDefaultInstance());

    private Rpc() {}

    /** The kind of request, for observers. */
    static String kind(MethodDescriptor<?, ?> method) {
        return String.valueOf(method.getBareMethodName());
    }

    private static <Q extends MessageLite, A extends MessageLite> MethodDescriptor<Q, A> unary(
            String name, Q request, A answer) {
        return method(MethodType.UNARY, name, request, answer);
    }

    private static <Q extends MessageLite, A extends MessageLite> MethodDescriptor<Q, A> method(
            MethodType type, String name, Q request, A answer) {
        return MethodDescriptor.<Q, A>newBuilder()
                .setType(type)
                .setFullMethodName("etcdserverpb." + name)
                .setRequestMarshaller(ProtoLiteUtils.marshaller(request))
                .setResponseMarshaller(ProtoLiteUtils.marshaller(answer))
                .build();
    }
}
