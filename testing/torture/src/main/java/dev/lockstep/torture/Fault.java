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
record Fault(String kind, Length length, Set<Rule> excuses, Heal prepare, Injection injection) {
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

    /** What ends it, or comes before it. */
    interface Heal {
        /** Nothing needs to be done. */
        Heal NONE = () -> {};

        void run() throws Exception;
    }

    /**
     * What was done.
     *
     * @param target what was hurt
     * @param client the client that was hurt, or {@link FaultWindow#ALL}
     * @param lock the lock that was hurt, or {@link FaultWindow#ALL}
     * @param heal ends it
     */
    record Injected(String target, int client, int lock, Heal heal) {
        static Injected all(String target, Heal heal) {
            return new Injected(target, FaultWindow.ALL, FaultWindow.ALL, heal);
        }

        static Injected client(String target, int client, Heal heal) {
            return new Injected(target, client, FaultWindow.ALL, heal);
        }

        static Injected lock(int lock) {
            return new Injected(Locks.name(lock), FaultWindow.ALL, lock, Heal.NONE);
        }
    }

    static Fault of(String kind, Length length, Injection injection) {
        return new Fault(kind, length, Set.of(), Heal.NONE, injection);
    }

    /** The same fault on an engine that does not promise some rules in it. */
    Fault excusing(Rule... rules) {
        return new Fault(kind, length, Set.of(rules), prepare, injection);
    }

    /** The same fault, for which something must be waited for before. */
    Fault after(Heal wait) {
        return new Fault(kind, length, excuses, wait, injection);
    }
}
