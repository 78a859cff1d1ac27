/**
 * Locks on a majority of several independent Redis servers. With this artifact on the class path, {@link
 * dev.lockstep.LockClient#connect(String)} takes {@code redlock://} and {@code redlocks://} URLs; {@link
 * dev.lockstep.redis.redlock.RedlockEngine} locks through Jedis clients that the application has already.
 *
 * <pre>{@code
 * LockClient locks = LockClient.connect("redlock://redis-1,redis-2,redis-3");
 * }</pre>
 */
@NullMarked
package dev.lockstep.redis.redlock;

import org.jspecify.annotations.NullMarked;
