/**
 * Locks on Redis 6.2 or newer: single servers, Sentinel, Cluster, and Redlock over independent servers. With this artifact on
 * the class path, {@link dev.lockstep.LockClient#connect(String)} takes {@code redis://}, {@code redis-sentinel://}, {@code
 * redis-cluster://} and {@code redlock://} URLs, with {@code rediss} and {@code redlocks} for TLS; {@link
 * dev.lockstep.redis.RedisLocks} and {@link dev.lockstep.redis.Redlock} lock through Jedis clients that the application has
 * already.
 *
 * <pre>{@code
 * LockClient locks = LockClient.connect("redis://localhost:6379");
 * }</pre>
 *
 * <p>Waiters stand in a queue at the server and are woken by push; {@code queue=off} is the textbook's lock instead. Tokens start
 * from the server's time, so that they rise over restarts without persistence too.
 */
@NullMarked
package dev.lockstep.redis;

import org.jspecify.annotations.NullMarked;
