package dev.lockstep.zookeeper;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.HolderText;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The format of a namespace's nodes, as the namespace's own node says, in one session. Clients of another format are refused.
 * Safe for use by many threads.
 */
final class Format {
    /*
     * Overview. The client that makes the node of a namespace writes the number of its format there. Each session reads
     * it when it connects, and watches it. So requests for locks cost nothing more: if another client makes the node
     * later, its event comes before the reply to any request for a node below it, and grants wait until the node is
     * read again.
     *
     * A client of another format can take over a namespace that has no locks at all, when it connects. Others that are
     * connected see the change by their watches, and are refused from then on.
     *
     * A node without a number gets it: it was made by hand, for its access list, or by a client before format 2, which neither
     * wrote a number nor looks for one.
     */
    static final int NUMBER = 2;

    private static final String NAME = "format";

    /** Why nothing is granted; the empty text while the node is being read. */
    private static final String UNKNOWN = "";

    private final Session session;
    private final String path;
    private final String about;
    private final Queue<Runnable> untilKnown = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Code> checked = new CompletableFuture<>();
    private volatile @Nullable String refusal = UNKNOWN; // null if locks may be granted

    Format(Session session, String namespace, String engine) {
        this.session = session;
        this.path = new Keys(namespace).namespacePath();
        this.about = "namespace '" + namespace + "' at " + engine;
    }

    /** The content of a namespace's node. */
    static byte[] data() {
        return HolderText.line(NAME, Integer.toString(NUMBER)).getBytes(StandardCharsets.UTF_8);
    }

    /** Done when the node was read for the first time, or is not there: OK then, and otherwise why it could not be read. */
    CompletableFuture<Code> checked() {
        return checked;
    }

    /** Whether a lock may be granted, as far as that is known. */
    boolean isSame() {
        return refusal == null;
    }

    /** The exception for a claim that cannot be granted; null if it can, or if that is not known yet. */
    @Nullable
    LockConfigurationException failure(@Nullable String lockName) {
        String why = refusal;
        if (why == null || why.equals(UNKNOWN)) {
            return null;
        }
        return new LockConfigurationException(lockName, (lockName == null ? "" : "Lock '" + lockName + "': ") + why);
    }

    /** Does something when it is known whether a lock may be granted. */
    void whenKnown(Runnable action) {
        untilKnown.add(action);
        if (!UNKNOWN.equals(refusal)) {
            drain();
        }
    }

    private void known(@Nullable String why) {
        refusal = why;
        checked.complete(Code.OK);
        drain();
    }

    private void drain() {
        for (Runnable next = untilKnown.poll(); next != null; next = untilKnown.poll()) {
            next.run();
        }
    }

    // ---------------------------------------------------------------- requests

    /** Begins to watch the node; called once, when the session is connected. */
    void check() {
        read();
    }

    /** Receives events of nodes, which may be other ones. */
    void changed(String changed) {
        if (changed.equals(path)) {
            refusal = UNKNOWN;
            read();
        }
    }

    private void read() {
        session.link().data(path, true, (code, data, stat) -> {
            if (code == Code.OK) {
                judge(data, stat);
            } else if (code == Code.NONODE) {
                awaitNode();
            } else {
                notRead(code);
            }
        });
    }

    private void awaitNode() {
        session.link().exists(path, true, code -> {
            if (code == Code.OK) {
                read();
            } else if (code == Code.NONODE) {
                known(null);
            } else {
                notRead(code);
            }
        });
    }

    /** A client that may not read the node can hardly make locks there, and is refused when it tries. */
    private void notRead(Code code) {
        if (Failure.mayRetry(code)) {
            session.retry(code, this::read);
        } else if (Failure.isEnd(code)) {
            checked.complete(code);
            drain();
        } else {
            checked.complete(code);
            known(null);
        }
    }

    private void judge(byte @Nullable [] data, Stat stat) {
        String text = data == null ? "" : new String(data, StandardCharsets.UTF_8);
        String number = HolderText.read(text).get(NAME);
        if (Integer.toString(NUMBER).equals(number)) {
            known(null);
        } else if (number == null) {
            session.link().setData(path, data(), stat.getVersion(), code -> written(code, null));
        } else {
            String why = about + " is used by clients of another version of Lockstep: its nodes have format "
                    + number + ", and this client needs format " + NUMBER
                    + ". Stop the other clients and wait until ZooKeeper has removed " + path
                    + ", which takes a minute or two, or delete that node; or use another namespace.";
            if (stat.getNumChildren() == 0 && !checked.isDone()) {
                session.link().replaceNamespace(stat.getVersion(), code -> written(code, why));
            } else {
                known(why);
            }
        }
    }

    private void written(Code code, @Nullable String otherwise) {
        switch (code) {
            case OK -> known(null);
            case BADVERSION, NONODE, NODEEXISTS, NOTEMPTY -> {
                checked.complete(Code.OK); // takes nothing over any more
                read();
            }
            case NOAUTH -> known(otherwise);
            default -> notRead(code);
        }
    }
}
