package dev.lockstep.spring.integration;

import java.util.concurrent.locks.Lock;
import org.springframework.util.ClassUtils;

/** Makes locks that fit the version of Spring Integration on the class path. */
final class Locks {
    private static final boolean TIMED = ClassUtils.isPresent(
            "org.springframework.integration.support.locks.DistributedLock", Locks.class.getClassLoader());

    private Locks() {}

    /** The lock itself with Spring Integration 6; in 7 with calls that have a time-to-live. */
    static Lock timed(Lock lock) {
        return TIMED ? new TimedLock(lock) : lock;
    }
}
