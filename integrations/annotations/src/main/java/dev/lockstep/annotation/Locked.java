package dev.lockstep.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method under a distributed lock.
 *
 * <pre>{@code
 * @Locked(name = "order", key = "#order.id") // locks order:42
 * public void ship(Order order) { … }
 * }</pre>
 *
 * <p>The lock is acquired before the method runs and released after it has returned or thrown. If the method runs in a
 * transaction, the lock is acquired before the transaction begins and released after it has ended. The caller gets:
 *
 * <ul>
 *   <li>what the method returns or throws, unchanged; even if the release is not confirmed, which is logged
 *   <li>{@code LockTimeoutException} or {@code LockUnavailableException}, both {@code LockNotAcquiredException}s, if the method
 *       did not run; see {@link #onBusy()}
 *   <li>{@code LockLostAfterWorkException}, with the result, if the lock was lost while the method ran; see {@link #fenced()}
 * </ul>
 *
 * <p>A parameter of type {@code dev.lockstep.Lease} receives the lease, whatever the caller passes, so that the method has its
 * token. A method that returns a {@code CompletionStage} or a reactive type holds the lock until that completes.
 *
 * <p>On a class or an interface, the annotation applies to all its public methods; on a method it replaces that of the class.
 * Under Spring, texts may contain placeholders such as <code>${shop.name}</code>. Durations are texts like {@code 500ms}, {@code 30s}, {@code
 * 5m}, {@code 1h} or {@code PT30S}.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Locked {
    /**
     * The first part of the lock's name, constant for all calls; the whole name if there is no key.
     *
     * @return the name
     */
    String name();

    /**
     * Expressions for the rest of the lock's name, such as {@code #order.id}; {@code name:key} is locked. If there are several,
     * or if one yields a collection or an array, all these locks are acquired together, or none.
     *
     * @return the expressions; in Spring's expression language under Spring; under CDI, which has none, a parameter such as {@code
     *     #order} and its properties, {@code #order.customer.id}
     */
    String[] key() default {};

    /**
     * Whether the method excludes everybody, or only writers. {@link Mode#READ} needs a single key.
     *
     * @return the mode
     */
    Mode mode() default Mode.WRITE;

    /**
     * How long to wait for the lock. Unless set, that of the client's configuration, which is 1 second; and nothing if {@link
     * #onBusy()} is {@link OnBusy#SKIP}.
     *
     * @return a duration; zero does not wait
     */
    String waitAtMost() default "";

    /**
     * An upper bound for the hold: when it ends, the lock is lost. Unless set, the method holds the lock for as long as it runs.
     *
     * @return a duration
     */
    String maxHold() default "";

    /**
     * A lower bound for the hold: if the method returns earlier, the lock stays held until then, and the caller does not wait
     * for that. For scheduled jobs that are shorter than the difference between the clocks of two machines.
     *
     * @return a duration
     */
    String minHold() default "";

    /**
     * Whether the lock is first come, first served over all processes. All users of the name must agree.
     *
     * @return true if it is fair
     */
    boolean fair() default false;

    /**
     * Whether all effects of the method are guarded by the lease's token. Then a loss does not make the result wrong, and the
     * method's result is returned in spite of it.
     *
     * @return true if storage checks the token
     */
    boolean fenced() default false;

    /**
     * The behaviour if the lock is held elsewhere.
     *
     * @return what to do
     */
    OnBusy onBusy() default OnBusy.THROW;

    /**
     * A method of the same class to call instead if the lock is held elsewhere. It has the same return type and the
     * same parameters, without the {@code Lease}. Takes the place of {@link #onBusy()}.
     *
     * @return the method's name
     */
    String busyMethod() default "";

    /**
     * The client to use if there are several.
     *
     * @return its bean name or qualifier
     */
    String client() default "";

    /** Which other calls a locked method excludes. */
    enum Mode {
        /** Excludes everybody. */
        WRITE,
        /** Excludes writers; readers run together. */
        READ
    }

    /** The behaviour if the lock is held elsewhere. */
    enum OnBusy {
        /** Throws {@code LockTimeoutException}, which says who holds it. */
        THROW,
        /**
         * Does not run the method, and returns {@code null}, an empty {@code Optional} or an empty stream. Not for methods that
         * return a primitive value.
         */
        SKIP
    }
}
