/**
 * Locks in Spring Boot 3.5 and 4: a {@link dev.lockstep.LockClient}, a {@link dev.lockstep.LockTemplate} and {@link
 * dev.lockstep.annotation.Locked}, configured by {@code lockstep.*} properties, with health, an endpoint and clear errors at the
 * start.
 */
@NullMarked
package dev.lockstep.spring.boot;

import org.jspecify.annotations.NullMarked;
