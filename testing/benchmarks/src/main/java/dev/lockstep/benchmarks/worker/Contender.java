package dev.lockstep.benchmarks.worker;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

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
     * @return the limit of permits, without a bound unless the library says otherwise
     */
    default int holders() {
        return Integer.MAX_VALUE;
    }

    /** How many permits the semaphores have whose permits are measured as locks are. */
    int PERMITS = 4;

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

        /**
         * Several locks that are taken together.
         *
         * @param names their names
         * @return the locks as one
         * @throws Exception if that fails
         */
        default Mutex multiMutex(List<String> names) throws Exception {
            throw new UnsupportedOperationException("one lock at a time: " + names.get(0));
        }

        @Override
        void close() throws Exception;
    }

    /** One lock. The thread that took it releases it. */
    interface Mutex {
        /**
         * Takes it, however long that takes.
         *
         * @throws Exception if that fails
         */
        void lock() throws Exception;

        /**
         * Releases it.
         *
         * @throws Exception if that fails
         */
        void unlock() throws Exception;

        /**
         * A lock that is a permit or a term: a hold of it belongs to a handle.
         *
         * @param <H> the handle
         * @param acquire waits for it
         * @param release ends it
         * @return both, with the handle of each thread between them
         */
        static <H> Mutex of(Source<H> acquire, Sink<H> release) {
            Map<Thread, H> handles = new ConcurrentHashMap<>();
            return new Mutex() {
                @Override
                public void lock() throws Exception {
                    handles.put(Thread.currentThread(), acquire.get());
                }

                @Override
                public void unlock() throws Exception {
                    H handle = handles.remove(Thread.currentThread());
                    if (handle != null) {
                        release.accept(handle);
                    }
                }
            };
        }

        /**
         * Gives a handle.
         *
         * @param <H> the handle
         */
        interface Source<H> {
            /**
             * Waits for it.
             *
             * @return the handle
             * @throws Exception if that fails
             */
            H get() throws Exception;
        }

        /**
         * Takes a handle.
         *
         * @param <H> the handle
         */
        interface Sink<H> {
            /**
             * Ends the hold.
             *
             * @param handle the handle
             * @throws Exception if that fails
             */
            void accept(H handle) throws Exception;
        }

        /**
         * The operations that most libraries have.
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
