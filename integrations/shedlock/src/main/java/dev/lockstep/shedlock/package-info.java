/** ShedLock's lock provider on locks of Lockstep: {@link dev.lockstep.shedlock.LockstepLockProvider}. */
@NullMarked
package dev.lockstep.shedlock;

import org.jspecify.annotations.NullMarked;
