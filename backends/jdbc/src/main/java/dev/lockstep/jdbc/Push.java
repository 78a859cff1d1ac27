package dev.lockstep.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Notifies clients about their claims, where the database can carry messages; and does the related work in one
 * statement, which takes a transaction of several statements elsewhere.
 */
interface Push {
    /** A notification to a client about one of its claims. */
    enum Message {
        /** It can have the lock now. */
        HINT('H'),
        /** Another client waits for what it holds. */
        WANTED('W'),
        /** An operator has released its hold by force. */
        REVOKED('R');

        final char code;

        Message(char code) {
            this.code = code;
        }
    }

    /** Notifies nobody. */
    Push NONE = new Push() {
        @Override
        public void send(Batch batch, Message message, String claim) {}

        @Override
        public void hintHead(Batch batch, String key) {}

        @Override
        public boolean release(Link link, Sql sql, String key, String claim) throws SQLException {
            return link.update(sql.release, key, claim) > 0;
        }

        @Override
        public Optional<Look> enqueue(Link link, Sql sql, Ask ask, String session) throws SQLException {
            return link.query(sql.look, Look::read, ask.key());
        }

        @Override
        public Dialect.@Nullable Drawn serve(Link link, Sql sql, Ask ask, String session) throws SQLException {
            return link.transaction(inside -> {
                        Batch batch = new Batch();
                        batch.query(sql.lockRow, ResultSet::next, ask.key()); // so that the current waiters are read
                        Batch.Call<Dialect.Drawn> drawn = batch.draw(
                                sql.serve,
                                ask.claim(),
                                session,
                                ask.thread(),
                                ask.sticky(),
                                ask.key(),
                                ask.claim(),
                                ask.key(),
                                ask.claim(),
                                ask.mayBarge() ? 1 : 0);
                        batch.update(sql.deleteServed, ask.claim(), ask.key(), ask.claim());
                        Batch.Call<Optional<String>> next = batch.query(sql.readHead, Push::readHead, ask.key());
                        inside.run(batch);
                        Dialect.Drawn taken = drawn.answerIfAny();
                        return taken == null
                                ? Optional.<Dialect.Drawn>empty()
                                : Optional.of(new Dialect.Drawn(
                                        taken.token(), next.answer().orElse(null)));
                    })
                    .orElse(null);
        }
    };

    private static Optional<String> readHead(ResultSet rows) throws SQLException {
        return rows.next() ? Optional.ofNullable(rows.getString(1)) : Optional.empty();
    }

    /** Notifies a claim's client, when the transaction is committed. */
    void send(Batch batch, Message message, String claim);

    /** Gives a hint to the first waiter, if there is one, when the transaction is committed. */
    void hintHead(Batch batch, String key);

    /** Frees a lock, if the claim owns it, and gives a hint to the first waiter, in one statement. */
    boolean release(Link link, Sql sql, String key, String claim) throws SQLException;

    /**
     * Looks at a lock that a claim cannot have now, and lets the claim wait for it where one statement can do both.
     *
     * @return what was seen of the lock, and whether the claim waits; empty if the lock has no row
     */
    Optional<Look> enqueue(Link link, Sql sql, Ask ask, String session) throws SQLException;

    /** Gives a free lock to a claim that waits for it; null if nothing was done, and the full transaction is needed. */
    Dialect.@Nullable Drawn serve(Link link, Sql sql, Ask ask, String session) throws SQLException;
}
