@NullMarked
package dev.lockstep.internal.semaphore;

import org.jspecify.annotations.NullMarked;
