package dev.lockstep.spring;

import org.springframework.util.ClassUtils;

/**
 * Libraries that an application may do without. A native image finds a class by its name only if it keeps it: {@link
 * LibraryHints}.
 */
enum Library {
    TRANSACTIONS("org.springframework.transaction.support.TransactionSynchronizationManager"),
    REACTOR("reactor.core.publisher.Flux"),
    COROUTINES("kotlinx.coroutines.reactor.MonoKt"),
    OBSERVATIONS("dev.lockstep.micrometer.LockObservations");

    private final String type;

    Library(String type) {
        this.type = type;
    }

    /** A class of the library. */
    String type() {
        return type;
    }

    boolean isPresent() {
        return ClassUtils.isPresent(type, Library.class.getClassLoader());
    }
}
