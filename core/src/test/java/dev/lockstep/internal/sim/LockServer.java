package dev.lockstep.internal.sim;

import dev.lockstep.LockMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The engine itself: sessions, holders and queues, as plainly as they can be written. It has no network: what happens
 * here happens at once and in order. The node's backend is notified of grants through {@link SimBackend}.
 */
final class LockServer {
    private final World world;
    private final Setup setup;
    final Lock[] locks;

    /** Hears of every grant; the oracle. */
    private final Watcher watcher;

    interface Watcher {
        void granted(Entry entry);
    }

    LockServer(World world, Setup setup, Watcher watcher) {
        this.world = world;
        this.setup = setup;
        this.watcher = watcher;
        this.locks = new Lock[setup.names];
        for (int i = 0; i < setup.names; i++) {
            locks[i] = new Lock(i);
        }
    }

    /** A lock: its holders and its waiters, in order. */
    static final class Lock {
        final int index;
        final List<Entry> holders = new ArrayList<>();
        final List<Entry> queue = new ArrayList<>();
        private long token;

        /** Since when it has had neither holder nor waiter; negative while it has one. */
        long freeSince;

        Lock(int index) {
            this.index = index;
        }

        boolean isUsed() {
            return !holders.isEmpty() || !queue.isEmpty();
        }
    }

    /** A client's life on the server; it ends when nothing has been heard for the ttl. */
    static final class Session {
        final Node node;
        private boolean known;
        private boolean ended;
        private long expires;

        Session(Node node) {
            this.node = node;
        }
    }

    enum State {
        UNKNOWN,
        WAITING,
        HOLDING,
        /** Released, withdrawn or refused: whatever still arrives for it is too late. */
        DEAD
    }

    /** The server's knowledge of a claim. */
    static final class Entry {
        final SimClaim claim;
        final Lock lock;
        LockMode mode;
        State state = State.UNKNOWN;

        @Nullable
        Session session;

        long token;
        boolean givenBack;
        boolean toldWanted;

        Entry(SimClaim claim, Lock lock, LockMode mode) {
            this.claim = claim;
            this.lock = lock;
            this.mode = mode;
        }
    }

    // ---------------------------------------------------------------- sessions

    /** Notes a sign of life. False if the session has ended. */
    boolean touch(Session session) {
        if (session.ended) {
            return false;
        }
        session.expires = world.now() + Setup.TTL;
        if (!session.known) {
            session.known = true;
            world.after(Setup.TTL, null, () -> expire(session));
        }
        return true;
    }

    private void expire(Session session) {
        if (session.ended) {
            return;
        }
        long left = session.expires - world.now();
        if (left > 0) {
            world.after(left, null, () -> expire(session));
        } else {
            end(session);
        }
    }

    /** Ends a session, with all that belongs to it. */
    void end(Session session) {
        if (forget(session)) {
            advanceAll();
        }
    }

    /** Ends a session, but grants nothing of what it had yet. */
    boolean forget(Session session) {
        session.ended = true;
        world.trace("session ends", session.node.index, 0, 0);
        boolean changed = false;
        for (Lock lock : locks) {
            changed |= forget(lock.holders, session) | forget(lock.queue, session);
        }
        return changed;
    }

    void advanceAll() {
        for (Lock lock : locks) {
            advance(lock);
        }
    }

    private static boolean forget(List<Entry> entries, Session session) {
        boolean changed = false;
        for (int i = entries.size() - 1; i >= 0; i--) {
            Entry entry = entries.get(i);
            if (entry.session == session) {
                entries.remove(i);
                entry.state = State.UNKNOWN;
                changed = true;
            }
        }
        return changed;
    }

    // ---------------------------------------------------------------- requests

    /** A claim, or a look at what became of it. */
    State claim(Entry entry, Session session, boolean mayWait, boolean mayBarge) {
        Lock lock = entry.lock;
        lock.freeSince = -1;
        if (entry.state == State.UNKNOWN) {
            entry.session = session;
            boolean first =
                    lock.queue.isEmpty() || mayBarge && (entry.mode == LockMode.EXCLUSIVE || !writerWaits(lock));
            if (first && fits(lock, entry.mode)) {
                grant(entry);
            } else if (mayWait) {
                lock.queue.add(entry);
                entry.state = State.WAITING;
                tellWanted(lock);
            } else {
                entry.state = State.DEAD;
                return State.DEAD;
            }
        } else if (entry.state == State.WAITING
                && setup.hints
                && lock.queue.get(0) == entry
                && fits(lock, entry.mode)) {
            lock.queue.remove(0);
            grant(entry);
            advance(lock);
        }
        return entry.state;
    }

    boolean release(Entry entry, long token) {
        if (entry.state == State.HOLDING && entry.token == token) {
            entry.givenBack = true;
        }
        withdraw(entry);
        return entry.givenBack;
    }

    void withdraw(Entry entry) {
        Lock lock = entry.lock;
        lock.holders.remove(entry);
        lock.queue.remove(entry);
        entry.state = State.DEAD;
        advance(lock);
    }

    boolean downgrade(Entry entry, long token) {
        if (!setup.downgrades || entry.state != State.HOLDING || entry.token != token) {
            return false;
        }
        entry.mode = LockMode.SHARED;
        advance(entry.lock);
        return true;
    }

    /** An operator ends the grants of a lock. */
    void revoke(Lock lock) {
        for (Entry entry : new ArrayList<>(lock.holders)) {
            long token = entry.token;
            entry.claim.backend.revoked(entry.claim);
            if (entry.state == State.HOLDING && entry.token == token) {
                lock.holders.remove(entry);
                entry.state = State.UNKNOWN;
            }
        }
        advance(lock);
    }

    // ---------------------------------------------------------------- deciding

    private static boolean fits(Lock lock, LockMode mode) {
        return lock.holders.isEmpty() || mode == LockMode.SHARED && lock.holders.get(0).mode == LockMode.SHARED;
    }

    private static boolean writerWaits(Lock lock) {
        for (Entry entry : lock.queue) {
            if (entry.mode == LockMode.EXCLUSIVE) {
                return true;
            }
        }
        return false;
    }

    private void advance(Lock lock) {
        while (!lock.queue.isEmpty() && fits(lock, lock.queue.get(0).mode)) {
            Entry first = lock.queue.get(0);
            if (setup.hints) {
                first.claim.hinted();
                break;
            }
            lock.queue.remove(0);
            grant(first);
            first.claim.pushed();
        }
        if (lock.isUsed()) {
            lock.freeSince = -1;
        } else if (lock.freeSince < 0) {
            lock.freeSince = world.now();
        }
        tellWanted(lock);
    }

    private void grant(Entry entry) {
        entry.state = State.HOLDING;
        entry.token = ++entry.lock.token;
        entry.toldWanted = false;
        entry.lock.holders.add(entry);
        world.trace("server grants", entry.claim.node().index, entry.lock.index, entry.token);
        watcher.granted(entry);
        tellWanted(entry.lock);
    }

    /** Whether another node's claim is blocked by a holder. */
    boolean isWanted(Entry holder) {
        if (!setup.reportsWanted || holder.state != State.HOLDING) {
            return false;
        }
        for (Entry waiter : holder.lock.queue) {
            if (waiter.claim.node() != holder.claim.node()
                    && (waiter.mode == LockMode.EXCLUSIVE || holder.mode == LockMode.EXCLUSIVE)) {
                return true;
            }
        }
        return false;
    }

    private void tellWanted(Lock lock) {
        if (lock.queue.isEmpty() || !setup.reportsWanted) {
            return;
        }
        for (int i = 0; i < lock.holders.size(); i++) {
            Entry holder = lock.holders.get(i);
            if (!holder.toldWanted && isWanted(holder)) {
                holder.toldWanted = true;
                holder.claim.wantedAtServer();
            }
        }
    }

    /** Whether a node's session has the lock, in a mode that allows a hold of another. */
    boolean holds(Node node, int lock, LockMode mode) {
        for (Entry entry : locks[lock].holders) {
            if (entry.claim.node() == node && (mode == LockMode.SHARED || entry.mode == LockMode.EXCLUSIVE)) {
                return true;
            }
        }
        return false;
    }
}
