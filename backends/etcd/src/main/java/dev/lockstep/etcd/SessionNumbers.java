package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.etcd.proto.Etcd.RangeRequest;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Gives each session of a namespace a number that no other living session has. Numbers are small and used again, so that
 * the keys that contain them are few.
 */
final class SessionNumbers {
    /*
     * Overview. A number is taken by putting the session's key, if there is none. It is drawn from a range twice as
     * large as the number of sessions, and a little more: so that at least every second try succeeds, however many
     * clients connect at once. The first try assumes that there are none.
     *
     * The same transaction finds out whether clients use the namespace whose keys have another format: all sessions are
     * under one prefix, and those of each format under one below it.
     */
    private static final int SPARE_NUMBERS = 8;

    private final Link link;
    private final Keys keys;

    SessionNumbers(Link link, Keys keys) {
        this.link = link;
        this.keys = keys;
    }

    /**
     * A number that was taken.
     *
     * @param number the session's
     * @param revision when its key was made
     */
    record Taken(long number, long revision) {}

    /** Takes a number and puts the session's key, with a value, on a lease. */
    CompletableFuture<Taken> take(ByteString value, long lease) {
        return take(value, lease, 0);
    }

    private CompletableFuture<Taken> take(ByteString value, long lease, long sessions) {
        long number = ThreadLocalRandom.current().nextLong(2 * sessions + SPARE_NUMBERS);
        return link.call(Rpc.TXN, request(number, value, lease)).thenCompose(answer -> {
            if (answer.getSucceeded()) {
                return CompletableFuture.completedFuture(
                        new Taken(number, answer.getHeader().getRevision()));
            }
            refuseOtherFormats(answer);
            return take(value, lease, answer.getResponses(2).getResponseRange().getCount());
        });
    }

    private TxnRequest request(long number, ByteString value, long lease) {
        ByteString all = keys.allSessions();
        ByteString ours = keys.sessions();
        RangeRequest.Builder before = Txns.look(all).setRangeEnd(ours).setLimit(1);
        RangeRequest.Builder after =
                Txns.look(Keys.endOf(ours)).setRangeEnd(Keys.endOf(all)).setLimit(1);
        ByteString key = keys.session(number);
        return TxnRequest.newBuilder()
                .addCompare(Txns.noneBetween(before.getKey(), before.getRangeEnd()))
                .addCompare(Txns.noneBetween(after.getKey(), after.getRangeEnd()))
                .addCompare(Txns.absent(key))
                .addSuccess(Txns.put(key, value, lease))
                .addFailure(Txns.op(before))
                .addFailure(Txns.op(after))
                .addFailure(Txns.op(Txns.lookAll(ours).setCountOnly(true)))
                .build();
    }

    private void refuseOtherFormats(TxnResponse answer) {
        if (!Txns.found(answer, 0).isEmpty() || !Txns.found(answer, 1).isEmpty()) {
            throw new LockConfigurationException(
                    null,
                    "Clients of another version of Lockstep use the prefix '" + keys.root() + "' of " + link.settings()
                            + ", and their keys have another format than this version's (" + Keys.FORMAT
                            + "): both at once would not exclude each other. Stop one version, wait for its ttl, and"
                            + " then start the other; or use another namespace.");
        }
    }
}
