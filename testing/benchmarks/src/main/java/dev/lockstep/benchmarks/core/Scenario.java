package dev.lockstep.benchmarks.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A class of benchmarks that are compared with each other: one heading of the report. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface Scenario {
    /** A short description of the measurement. */
    String value();
}
