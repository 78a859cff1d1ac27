package dev.lockstep.tck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Skips a test, or all tests of a class, where the fixture lacks a capability. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@interface Requires {
    /** The capabilities that are all needed. */
    Capability[] value();
}
