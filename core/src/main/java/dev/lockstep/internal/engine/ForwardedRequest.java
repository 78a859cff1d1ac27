package dev.lockstep.internal.engine;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.GrantListener;
import java.time.Duration;
import java.util.OptionalInt;

/** A request that is passed on to another engine, later or with some changes: everything else is as it was asked for. */
public interface ForwardedRequest extends ClaimRequest {
    /** The request as it came. */
    ClaimRequest asked();

    @Override
    default String name() {
        return asked().name();
    }

    @Override
    default LockMode mode() {
        return asked().mode();
    }

    @Override
    default OptionalInt limit() {
        return asked().limit();
    }

    @Override
    default int permits() {
        return asked().permits();
    }

    @Override
    default boolean mayWait() {
        return asked().mayWait();
    }

    @Override
    default boolean mayBarge() {
        return asked().mayBarge();
    }

    @Override
    default Duration blockAtMost() {
        return asked().blockAtMost();
    }

    @Override
    default String claimId() {
        return asked().claimId();
    }

    @Override
    default HolderInfo holder() {
        return asked().holder();
    }

    @Override
    default GrantListener listener() {
        return asked().listener();
    }

    @Override
    default long sentNanos() {
        return asked().sentNanos();
    }
}
