package dev.lockstep.spring.boot;

import dev.lockstep.LockConfigurationException;

/** Nothing says on which engine the locks are. */
final class NoEngineException extends LockConfigurationException {
    private static final long serialVersionUID = 1L;

    NoEngineException(String message) {
        super(null, message);
    }
}
