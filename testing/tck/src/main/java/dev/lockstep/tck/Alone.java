package dev.lockstep.tck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a test while no other test of the contract runs in this JVM: it restarts the server, or counts threads or
 * requests, which other tests would change.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Alone {}
