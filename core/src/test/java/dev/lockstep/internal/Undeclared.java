package dev.lockstep.internal;

/** Throws exceptions that no signature declares, as code in languages without checked exceptions does. */
public final class Undeclared {
    private Undeclared() {}

    /** Throws it; the return type is for lambdas that must return something. */
    public static <T> T fail(Throwable thrown) {
        return Undeclared.<T, RuntimeException>failAs(thrown);
    }

    @SuppressWarnings("unchecked") // the point of it
    private static <T, E extends Throwable> T failAs(Throwable thrown) throws E {
        throw (E) thrown;
    }
}
