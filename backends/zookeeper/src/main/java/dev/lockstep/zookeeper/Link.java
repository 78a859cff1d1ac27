package dev.lockstep.zookeeper;

import dev.lockstep.spi.RequestObserver;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one session. None blocks; replies come in the order of the requests. Each reply is noted as a sign of
 * life. Safe for use by many threads.
 */
final class Link {
    /** Receives the result of making a node. */
    interface Created {
        void reply(Code code, @Nullable String path, @Nullable Stat stat);
    }

    /** Receives a node's children. */
    interface Children {
        void reply(Code code, List<String> names);
    }

    /** Receives a node's data. */
    interface Data {
        void reply(Code code, byte @Nullable [] data, Stat stat);
    }

    /** Receives the results of several reads, in their order. */
    interface Results {
        void reply(Code code, List<OpResult> results);
    }

    private static final byte[] NO_DATA = {};
    private static final int ANY_VERSION = -1;
    private static final Stat NO_STAT = new Stat();

    private final Session session;
    private final RequestObserver observer;
    private final CompletableFuture<ZooKeeper> handle;
    private final List<ACL> acl;
    private final List<ACL> rootAcl;
    private final String namespacePath;

    Link(
            Session session,
            CompletableFuture<ZooKeeper> handle,
            ZooKeeperEngine engine,
            Keys keys,
            RequestObserver observer) {
        this.session = session;
        this.observer = observer;
        this.handle = handle;
        this.acl = engine.acl();
        this.rootAcl = engine.rootAcl();
        this.namespacePath = keys.namespacePath();
    }

    private ZooKeeper zooKeeper() {
        return handle.join();
    }

    private Code received(String kind, int rc, long sent) {
        Code known = Code.get(rc);
        Code code = session.effective(known == null ? Code.SYSTEMERROR : known);
        if (Failure.isAnswer(code)) {
            session.answered(sent);
            observer.ended(kind, sent, null);
        } else {
            observer.ended(kind, sent, KeeperException.create(code));
        }
        return code;
    }

    /** The answer to a write; a majority of the servers has accepted one that succeeded. */
    private Code written(String kind, int rc, long sent) {
        Code code = received(kind, rc, sent);
        if (code == Code.OK) {
            session.committed(sent);
        }
        return code;
    }

    /**
     * Makes a node, and parents that are missing with it, all or none.
     *
     * @param missing how many parents to make; they are containers, which the server removes when they are empty again
     */
    void create(String path, byte[] data, CreateMode mode, int missing, Created reply) {
        long sent = session.nanoTime();
        if (missing == 0) {
            zooKeeper()
                    .create(
                            path,
                            data,
                            acl,
                            mode,
                            (rc, asked, context, made, stat) ->
                                    session.replied(() -> reply.reply(written("create", rc, sent), made, stat)),
                            null);
            return;
        }
        Op[] ops = new Op[missing + 1];
        String parent = path;
        for (int i = missing - 1; i >= 0; i--) {
            parent = Keys.parent(parent);
            ops[i] = container(parent);
        }
        ops[missing] = Op.create(path, data, acl, mode);
        zooKeeper()
                .multi(
                        List.of(ops),
                        (rc, asked, context, results) -> session.replied(() -> {
                            Code code = written("create", rc, sent);
                            if (code != Code.OK) {
                                reply.reply(code, null, null);
                                return;
                            }
                            // All nodes of a multi have one transaction id, which only containers report. Unlike other
                            // requests, a multi is answered with the chroot before the path.
                            OpResult.CreateResult container = (OpResult.CreateResult) results.get(0);
                            OpResult.CreateResult node = (OpResult.CreateResult) results.get(missing);
                            String made = Keys.parent(path) + "/" + Keys.last(node.getPath());
                            reply.reply(code, made, container.getStat());
                        }),
                        null);
    }

    private Op container(String path) {
        byte[] data = path.equals(namespacePath) ? Format.data() : NO_DATA;
        return Op.create(path, data, path.equals(Keys.ROOT) ? rootAcl : acl, CreateMode.CONTAINER);
    }

    /** Makes the namespace's node again, if it has that version and nothing below it. */
    void replaceNamespace(int version, Consumer<Code> reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .multi(
                        List.of(Op.delete(namespacePath, version), container(namespacePath)),
                        (rc, asked, context, results) ->
                                session.replied(() -> reply.accept(written("create", rc, sent))),
                        null);
    }

    void children(String path, boolean watch, Children reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .getChildren(
                        path,
                        watch ? session : null,
                        (int rc, String asked, Object context, List<String> names) -> session.replied(() ->
                                reply.reply(received("getChildren", rc, sent), names == null ? List.of() : names)),
                        null);
    }

    void data(String path, boolean watch, Data reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .getData(
                        path,
                        watch ? session : null,
                        (rc, asked, context, data, stat) -> session.replied(
                                () -> reply.reply(received("getData", rc, sent), data, stat == null ? NO_STAT : stat)),
                        null);
    }

    /** Reads several nodes in one request. Each has a result of its own, which may be an error. */
    void readAll(List<Op> reads, Results reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .multi(
                        reads,
                        (rc, asked, context, results) -> session.replied(() -> {
                            // The client takes the first read that failed for the failure of all, but has the results.
                            boolean answered = results != null;
                            Code code = received("multiRead", answered ? Code.OK.intValue() : rc, sent);
                            reply.reply(code, answered ? results : List.of());
                        }),
                        null);
    }

    void exists(String path, boolean watch, Consumer<Code> reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .exists(
                        path,
                        watch ? session : null,
                        (rc, asked, context, stat) -> session.replied(() -> reply.accept(received("exists", rc, sent))),
                        null);
    }

    void setData(String path, byte[] data, Consumer<Code> reply) {
        setData(path, data, ANY_VERSION, reply);
    }

    void setData(String path, byte[] data, int version, Consumer<Code> reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .setData(
                        path,
                        data,
                        version,
                        (rc, asked, context, stat) -> session.replied(() -> reply.accept(written("setData", rc, sent))),
                        null);
    }

    /** Writes a node's data if it has that version, and only if another node is there. */
    void setData(String present, String path, byte[] data, int version, Consumer<Code> reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .multi(
                        List.of(Op.check(present, ANY_VERSION), Op.setData(path, data, version)),
                        (rc, asked, context, results) ->
                                session.replied(() -> reply.accept(written("setData", rc, sent))),
                        null);
    }

    void delete(String path, Consumer<Code> reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .delete(
                        path,
                        ANY_VERSION,
                        (rc, asked, context) -> session.replied(() -> reply.accept(written("delete", rc, sent))),
                        null);
    }

    /**
     * A transaction that changes nothing. Failure OK if a majority of the servers has accepted it. The checked
     * condition does not matter: a check that fails is a transaction, too.
     */
    void writeNothing(Consumer<Code> reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .multi(
                        List.of(Op.check(namespacePath, ANY_VERSION)),
                        (rc, asked, context, results) -> session.replied(() -> {
                            boolean failed = rc == Code.NONODE.intValue() || rc == Code.NOAUTH.intValue();
                            reply.accept(written("check", failed ? Code.OK.intValue() : rc, sent));
                        }),
                        null);
    }

    /** Lets the server catch up with the leader, so that later reads see everything that was confirmed before. */
    void sync(Consumer<Code> reply) {
        long sent = session.nanoTime();
        zooKeeper()
                .sync(
                        "/",
                        (rc, asked, context) -> session.replied(() -> reply.accept(received("sync", rc, sent))),
                        null);
    }
}
