package dev.lockstep.spring;

import dev.lockstep.LockConfigurationException;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** Whether the caller of a lock is in a transaction. Works without spring-tx on the class path; then nobody is. */
final class Transactions {
    private static final Logger log = LoggerFactory.getLogger(Transactions.class);
    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            Transactions.class.getClassLoader());

    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

    private Transactions() {}

    /**
     * Finds out whether the caller is in a transaction, before a lock is acquired.
     *
     * @param lock the name of the lock
     * @param place where it is acquired, for the warning
     * @throws LockConfigurationException if it is, and that is refused
     */
    static boolean check(String lock, String place, CallerTransaction policy) {
        if (!PRESENT || !Spring.isActive()) {
            return false;
        }
        if (policy == CallerTransaction.REFUSE) {
            throw new LockConfigurationException(
                    lock,
                    "Lock '" + lock + "' (" + place + ") was not acquired: the caller is in a transaction already, and"
                            + " lockstep.transaction is 'refuse'. Acquire the lock before the transaction begins.");
        }
        if (WARNED.add(place)) {
            log.warn(
                    "Lock '{}' ({}) is acquired by a caller that is in a transaction already. It is released after that"
                            + " transaction has ended. But under snapshot isolation (REPEATABLE READ, SERIALIZABLE) the transaction may"
                            + " read data from before the lock was acquired, and miss what the previous holder has committed."
                            + " Acquire the lock before the transaction begins. To make this an error, set"
                            + " lockstep.transaction=refuse. This is logged once for each place.",
                    lock,
                    place);
        }
        return true;
    }

    /** Whether a method runs in a transaction of its own or in none, whatever the caller's. */
    static boolean isIndependent(Method method, Class<?> type) {
        return PRESENT && Spring.isIndependent(method, type);
    }

    /** What needs spring-tx. */
    private static final class Spring {
        static boolean isActive() {
            return TransactionSynchronizationManager.isActualTransactionActive()
                    && TransactionSynchronizationManager.isSynchronizationActive();
        }

        static boolean isIndependent(Method method, Class<?> type) {
            Transactional own = AnnotatedElementUtils.findMergedAnnotation(method, Transactional.class);
            Transactional found =
                    own != null ? own : AnnotatedElementUtils.findMergedAnnotation(type, Transactional.class);
            return found != null
                    && (found.propagation() == Propagation.REQUIRES_NEW
                            || found.propagation() == Propagation.NOT_SUPPORTED);
        }
    }
}
