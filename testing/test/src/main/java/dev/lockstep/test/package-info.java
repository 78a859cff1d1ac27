/**
 * For tests of code that uses Lockstep.
 *
 * <p>{@link dev.lockstep.test.TestEngine} is an engine with faults on command: it takes a lock away from its holder, delays
 * grants, goes away and comes back. {@link dev.lockstep.test.LockTestExtension} gives a JUnit test such an engine and clients
 * of it.
 */
@NullMarked
package dev.lockstep.test;

import org.jspecify.annotations.NullMarked;
