package dev.lockstep.benchmarks.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Compares a benchmark with its yardstick, another benchmark of the same class. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Versus {
    /** The method that is the yardstick. */
    String value();

    /** The most time, in multiples of the yardstick's, that is good enough; none by default. */
    double goal() default Double.POSITIVE_INFINITY;
}
