package dev.lockstep.spring;

import org.jspecify.annotations.Nullable;

/** Encloses the calls of locked methods in observations. Safe for use by many threads. */
interface CallTracing {
    /** Observes nothing. */
    CallTracing NONE = (call, work) -> work.run();

    /** Runs a call: acquires its lock, and calls the method, or returns what does so for each subscription. */
    @Nullable
    Object observe(LockedInterceptor.Call call, Work work) throws Throwable;

    /** The call. */
    interface Work {
        @Nullable
        Object run() throws Throwable;
    }
}
