/** Spring Integration's lock registry on locks of Lockstep: {@link dev.lockstep.spring.integration.LockstepLockRegistry}. */
@NullMarked
package dev.lockstep.spring.integration;

import org.jspecify.annotations.NullMarked;
