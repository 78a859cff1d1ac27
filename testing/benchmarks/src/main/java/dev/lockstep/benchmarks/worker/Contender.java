package dev.lockstep.benchmarks.worker;

/** A lock library, or a yardstick, behind the few calls that all of them can do. */
public interface Contender {
    /**
     * Connects.
     *
     * @param url where the engine is, as Lockstep writes it
     * @return a client, as one process of an application would have it
     * @throws Exception if that fails
     */
    Client open(String url) throws Exception;

    /**
     * How many threads may hold locks of different names for long, without being in each other's way.
     *
     * @return as many as anybody asks for, unless the library says otherwise
     */
    default int holders() {
        return Integer.MAX_VALUE;
    }

    /** One client, with locks that its threads share. */
    interface Client extends AutoCloseable {
        /**
         * A lock, as an application would keep it in a field.
         *
         * @param name its name
         * @return the lock
         * @throws Exception if that fails
         */
        Mutex mutex(String name) throws Exception;

        /**
         * The shared half of the lock with that name.
         *
         * @param name its name
         * @return the lock for readers
         * @throws Exception if that fails
         */
        default Mutex readMutex(String name) throws Exception {
            throw new UnsupportedOperationException("no shared mode: " + name);
        }

        @Override
        void close() throws Exception;
    }

    /** One lock. The thread that took it gives it back. */
    interface Mutex {
        /**
         * Takes it, however long that takes.
         *
         * @throws Exception if that fails
         */
        void lock() throws Exception;

        /**
         * Gives it back.
         *
         * @throws Exception if that fails
         */
        void unlock() throws Exception;

        /**
         * What most libraries have.
         *
         * @param lock a lock of the JDK's kind
         * @return the same
         */
        static Mutex of(java.util.concurrent.locks.Lock lock) {
            return new Mutex() {
                @Override
                public void lock() {
                    lock.lock();
                }

                @Override
                public void unlock() {
                    lock.unlock();
                }
            };
        }
    }
}
