/**
 * Locks on Redis 6.2 or newer: single servers, Sentinel and Cluster. With this artifact on the class path, {@link
 * dev.lockstep.LockClient#connect(String)} takes {@code redis://}, {@code redis-sentinel://} and {@code redis-cluster://} URLs,
 * with {@code rediss} for TLS; {@link dev.lockstep.redis.RedisEngine} locks through a Jedis client that the application has
 * already. Redlock over independent servers is in {@link dev.lockstep.redis.redlock}.
 *
 * <pre>{@code
 * LockClient locks = LockClient.connect("redis://localhost:6379");
 * }</pre>
 *
 * <p>Waiters are in a queue on the server and are woken by push; {@code queue=off} is the textbook's lock instead.
 * Tokens start from the server's time, so that they rise over restarts without persistence too.
 */
@NullMarked
package dev.lockstep.redis;

import org.jspecify.annotations.NullMarked;
