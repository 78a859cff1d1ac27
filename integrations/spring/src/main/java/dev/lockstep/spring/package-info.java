/**
 * Locks for Spring: {@link dev.lockstep.annotation.Locked} on methods of beans, switched on by {@link
 * dev.lockstep.spring.EnableLocks}, and a {@link dev.lockstep.LockTemplate} that knows the transaction of its caller.
 *
 * <pre>{@code
 * @Configuration
 * @EnableLocks
 * class Locks {
 *     @Bean
 *     LockClient locks() {
 *         return LockClient.connect("redis://localhost:6379");
 *     }
 * }
 * }</pre>
 */
@NullMarked
package dev.lockstep.spring;

import org.jspecify.annotations.NullMarked;
