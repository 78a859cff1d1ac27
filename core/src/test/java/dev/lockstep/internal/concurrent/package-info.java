@NullMarked
package dev.lockstep.internal.concurrent;

import org.jspecify.annotations.NullMarked;
