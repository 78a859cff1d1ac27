package dev.lockstep.spring;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockConfigurationException;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Whether the caller of a lock is in a transaction. Works without spring-tx on the class path; then nobody is. */
final class Transactions {
    private static final Logger log = LoggerFactory.getLogger(Transactions.class);
    static final boolean PRESENT = Library.TRANSACTIONS.isPresent();

    /** Names of locks may be computed. */
    private static final int MOST_PLACES = 1_000;

    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

    private Transactions() {}

    /**
     * Finds out whether the caller is in a transaction, before a lock is acquired. A lock that the thread holds already, and only
     * enters again, was acquired before the transaction, or checked then. But the caller keeps this hold, too, until the
     * transaction has ended, since the thread may release the other one earlier.
     *
     * @param reentrant whether the lock is acquired for the calling thread
     * @param place where it is acquired, for the warning
     * @throws LockConfigurationException if it is, and that is refused
     */
    static boolean check(DistributedLock lock, boolean reentrant, String place, CallerTransaction policy) {
        if (!PRESENT || !Spring.isActive()) {
            return false;
        }
        if (!reentrant || !lock.isHeldByCurrentThread()) {
            warnOrRefuse(lock.name(), place, policy);
        }
        return true;
    }

    /** The same for a caller that is in a transaction. */
    static void warnOrRefuse(String lock, String place, CallerTransaction policy) {
        if (policy == CallerTransaction.REFUSE) {
            throw new LockConfigurationException(
                    lock,
                    "Lock '" + lock + "' (" + place + ") was not acquired: the caller is in a transaction already, and"
                            + " lockstep.transaction is 'refuse'. Acquire the lock before the transaction begins.");
        }
        if (WARNED.size() < MOST_PLACES && WARNED.add(place)) {
            log.warn(
                    "Lock '{}' ({}) is acquired by a caller that is in a transaction already. It is released after that"
                            + " transaction has ended. But under snapshot isolation (REPEATABLE READ, SERIALIZABLE) the transaction may"
                            + " read data from before the lock was acquired, and miss what the previous holder has committed."
                            + " Acquire the lock before the transaction begins. To make this an error, set"
                            + " lockstep.transaction=refuse. This is logged once for each place.",
                    lock,
                    place);
        }
    }

    /** Whether a method runs in a transaction of its own or in none, whatever the caller's. */
    static boolean isIndependent(Method method, Class<?> type) {
        return PRESENT && Spring.isIndependent(method, type);
    }

    /** The part that needs spring-tx. */
    private static final class Spring {
        static boolean isActive() {
            return TransactionSynchronizationManager.isActualTransactionActive()
                    && TransactionSynchronizationManager.isSynchronizationActive();
        }

        /** By Spring's own annotation or Jakarta's. */
        static boolean isIndependent(Method method, Class<?> type) {
            TransactionAttribute found =
                    new AnnotationTransactionAttributeSource(false).getTransactionAttribute(method, type);
            return found != null
                    && (found.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
                            || found.getPropagationBehavior() == TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
        }
    }
}
