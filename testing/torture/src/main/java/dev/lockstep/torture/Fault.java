package dev.lockstep.torture;

import java.util.Random;
import java.util.Set;

/**
 * A way to break something.
 *
 * @param kind its name
 * @param length how long it lasts
 * @param excuses the rules that the engine does not promise to keep in it, as docs/guarantees.md says
 * @param prepare what must be waited for before
 * @param injection does it
 */
record Fault(String kind, Length length, Set<Rule> excuses, Act prepare, Injection injection) {
    /** How long a fault lasts. */
    enum Length {
        /** It is over when it has been done. */
        MOMENT,

        /** Less than the ttl. */
        SHORT,

        /** More than the ttl. */
        LONG,

        /** Less or more. */
        ANY
    }

    /** Does it. */
    interface Injection {
        Injected inject(Random random) throws Exception;
    }

    /** The action that ends it, or the wait before it. */
    interface Act {
        /** Nothing needs to be done. */
        Act NONE = () -> {};

        void run() throws Exception;
    }

    /**
     * The action that was taken.
     *
     * @param target what was hurt
     * @param client the client that was hurt, or {@link FaultWindow#ALL}
     * @param lock the lock that was hurt, or {@link FaultWindow#ALL}
     * @param heal ends it
     */
    record Injected(String target, int client, int lock, Act heal) {
        static Injected all(String target, Act heal) {
            return new Injected(target, FaultWindow.ALL, FaultWindow.ALL, heal);
        }

        static Injected client(String target, int client, Act heal) {
            return new Injected(target, client, FaultWindow.ALL, heal);
        }

        /** Hurts a client, and ends by itself. */
        static Injected client(String target, int client) {
            return client(target, client, Act.NONE);
        }

        static Injected lock(int lock) {
            return new Injected(Locks.name(lock), FaultWindow.ALL, lock, Act.NONE);
        }
    }

    /**
     * An injection that may have been carried out although the caller got no confirmation. It is known which clients it
     * affected if it was, so only they are excused. An injection that cannot say this throws any other exception.
     */
    static final class UnconfirmedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Injected attempted;

        UnconfirmedException(Injected attempted, Exception cause) {
            super(attempted.target() + ": " + cause.getMessage(), cause);
            this.attempted = attempted;
        }

        Injected attempted() {
            return attempted;
        }
    }

    /** Does something that must not be left as it is if its author gets an error. */
    static void orHeal(Act harm, Act heal) throws Exception {
        try {
            harm.run();
        } catch (Exception e) {
            Nemesis.heal(heal);
            throw e;
        }
    }

    static Fault of(String kind, Length length, Injection injection) {
        return new Fault(kind, length, Set.of(), Act.NONE, injection);
    }

    /** The same fault on an engine that does not promise some rules in it. */
    Fault excusing(Rule... rules) {
        return new Fault(kind, length, Set.of(rules), prepare, injection);
    }

    /** The same fault, for which something must be waited for before. */
    Fault after(Act wait) {
        return new Fault(kind, length, excuses, wait, injection);
    }
}
