package dev.lockstep.jdbc;

import java.sql.SQLException;

/** Tells clients what concerns their claims, where the database can carry messages. */
interface Push {
    /** What a client is told of one of its claims. */
    enum Message {
        /** It can have the lock now. */
        HINT('H'),
        /** Another client waits for what it holds. */
        WANTED('W'),
        /** What it held was taken away. */
        REVOKED('R');

        final char code;

        Message(char code) {
            this.code = code;
        }
    }

    /** Tells nobody anything. */
    Push NONE = new Push() {
        @Override
        public void send(Link link, Message message, String claim) {}

        @Override
        public boolean release(Link link, Sql sql, String key, String claim) throws SQLException {
            return link.update(sql.release, key, claim) > 0;
        }
    };

    /** Tells a claim's client, when the statement or transaction is committed. */
    void send(Link link, Message message, String claim) throws SQLException;

    /** Frees a lock, if the claim owns it, and gives a hint to who waits first, in one statement. */
    boolean release(Link link, Sql sql, String key, String claim) throws SQLException;
}
