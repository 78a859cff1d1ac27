package dev.lockstep.etcd;

import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Looks at the keys that claims wait for, many with one request, and one request at a time. */
final class BlockerCheck {
    /** etcd takes 128 operations in a transaction, unless it is set otherwise. */
    private static final int BATCH = 100;

    private BlockerCheck() {}

    /**
     * A claim and the key that it waits for.
     *
     * @param claim receives the result
     * @param blockers the one key that it waits for
     */
    record Waiting(EtcdClaim claim, Blockers blockers) {}

    /** Starts the check. Requests without an answer are left to the next check. */
    static void run(Link link, Iterator<Waiting> all) {
        List<Waiting> batch = new ArrayList<>();
        TxnRequest.Builder reads = TxnRequest.newBuilder();
        while (all.hasNext() && batch.size() < BATCH) {
            Waiting next = all.next();
            batch.add(next);
            reads.addSuccess(Txns.op(Txns.look(next.blockers().key())));
        }
        if (batch.isEmpty()) {
            return;
        }
        link.call(Rpc.TXN, reads.build()).thenAccept(answer -> {
            for (int i = 0; i < batch.size(); i++) {
                Waiting waiting = batch.get(i);
                waiting.claim()
                        .checked(waiting.blockers(), answer.getResponses(i).getResponseRange());
            }
            run(link, all);
        });
    }
}
