package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.etcd.proto.Etcd.Compare;
import dev.lockstep.etcd.proto.Etcd.Compare.CompareResult;
import dev.lockstep.etcd.proto.Etcd.Compare.CompareTarget;
import dev.lockstep.etcd.proto.Etcd.DeleteRangeRequest;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.PutRequest;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.RequestOp;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.List;

/** The parts of transactions, and of their answers. */
final class Txns {
    private Txns() {}

    /** Key, version, revisions and lease of one key. */
    static RangeRequest.Builder look(ByteString key) {
        return RangeRequest.newBuilder().setKey(key).setKeysOnly(true);
    }

    /** The same of all keys that begin with a prefix. */
    static RangeRequest.Builder lookAll(ByteString prefix) {
        return look(prefix).setRangeEnd(Keys.endOf(prefix));
    }

    static RequestOp op(RangeRequest.Builder range) {
        return RequestOp.newBuilder().setRequestRange(range).build();
    }

    static RequestOp op(TxnRequest.Builder txn) {
        return RequestOp.newBuilder().setRequestTxn(txn).build();
    }

    static RequestOp put(ByteString key, ByteString value, long lease) {
        return RequestOp.newBuilder()
                .setRequestPut(
                        PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease))
                .build();
    }

    static RequestOp delete(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key))
                .build();
    }

    static Compare createdAt(ByteString key, long revision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(CompareTarget.CREATE)
                .setResult(CompareResult.EQUAL)
                .setCreateRevision(revision)
                .build();
    }

    static Compare absent(ByteString key) {
        return createdAt(key, 0);
    }

    static Compare noneBeginsWith(ByteString prefix) {
        return noneBetween(prefix, Keys.endOf(prefix));
    }

    static Compare noneBetween(ByteString first, ByteString end) {
        return absent(first).toBuilder().setRangeEnd(end).build();
    }

    static Compare writtenAt(ByteString key, long revision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(CompareTarget.MOD)
                .setResult(CompareResult.EQUAL)
                .setModRevision(revision)
                .build();
    }

    /** Nothing in a range was created, or is there, after a revision. */
    static Compare noneCreatedAfter(long revision, ByteString prefix) {
        return createdAt(prefix, revision + 1).toBuilder()
                .setResult(CompareResult.LESS)
                .setRangeEnd(Keys.endOf(prefix))
                .build();
    }

    /** Nothing in a range was written after a revision. */
    static Compare noneWrittenAfter(long revision, ByteString prefix) {
        return writtenAt(prefix, revision + 1).toBuilder()
                .setResult(CompareResult.LESS)
                .setRangeEnd(Keys.endOf(prefix))
                .build();
    }

    static Compare version(ByteString key, CompareResult result, long version) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(CompareTarget.VERSION)
                .setResult(result)
                .setVersion(version)
                .build();
    }

    /** The keys that the n-th operation of a transaction found. */
    static List<KeyValue> found(TxnResponse answer, int operation) {
        return answer.getResponses(operation).getResponseRange().getKvsList();
    }

    /** How many keys the n-th operation of a transaction deleted. */
    static long deleted(TxnResponse answer, int operation) {
        return answer.getResponses(operation).getResponseDeleteRange().getDeleted();
    }
}
