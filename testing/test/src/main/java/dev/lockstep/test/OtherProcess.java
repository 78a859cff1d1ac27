package dev.lockstep.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a parameter of type {@link dev.lockstep.LockClient} that plays another process: a second client on the same
 * engine, which no fault of {@link TestEngine} affects.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface OtherProcess {}
