package dev.lockstep.internal.turnstile;

import dev.lockstep.LockLostException;
import org.jspecify.annotations.Nullable;

/**
 * The failures while several locks were released: one exception, with some of the others added to it. A loss goes
 * before all else, because the code that works under several locks must learn of it. Not thread-safe.
 */
public final class ReleaseFailures {
    /** Thousands of locks may be lost together; a few of them are enough to read. */
    private static final int SHOWN = 10;

    private @Nullable RuntimeException worst;

    public void add(RuntimeException failure) {
        RuntimeException known = worst;
        if (known == null) {
            worst = failure;
            return;
        }
        boolean worse = failure instanceof LockLostException && !(known instanceof LockLostException);
        RuntimeException first = worse ? failure : known;
        RuntimeException second = worse ? known : failure;
        if (second != first && first.getSuppressed().length < SHOWN) {
            first.addSuppressed(second);
        }
        worst = first;
    }

    /** Throws the exception that counts, if there is one. */
    public void throwIfAny() {
        RuntimeException failure = worst;
        if (failure != null) {
            throw failure;
        }
    }
}
