/**
 * For tests of code that uses Lockstep.
 *
 * <p>{@link dev.lockstep.test.TestEngine} is an engine with faults on command: it revokes the lock of a holder, delays
 * grants, goes away and comes back. {@link dev.lockstep.test.LockTestExtension} gives a JUnit test such an engine and clients
 * of it.
 */
@NullMarked
package dev.lockstep.test;

import org.jspecify.annotations.NullMarked;
