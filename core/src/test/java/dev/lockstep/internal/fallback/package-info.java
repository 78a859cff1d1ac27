@NullMarked
package dev.lockstep.internal.fallback;

import org.jspecify.annotations.NullMarked;
