@NullMarked
package dev.lockstep.internal.lock;

import org.jspecify.annotations.NullMarked;
