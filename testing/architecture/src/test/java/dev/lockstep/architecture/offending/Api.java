package dev.lockstep.architecture.offending;

import dev.lockstep.architecture.offending.internal.Secret;
import dev.lockstep.architecture.offending.internal.SecretException;
import java.util.List;

/** An API that lets its internals out in every way a signature can. */
public abstract class Api {
    protected Secret field = new Secret();

    public abstract Secret returned();

    public abstract void parameter(List<? extends Secret> secrets);

    public abstract void thrown() throws SecretException;

    private static int hiddenUse() {
        return new Secret().hashCode();
    }

    static int use() {
        return hiddenUse();
    }
}
