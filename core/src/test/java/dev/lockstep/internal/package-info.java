@NullMarked
package dev.lockstep.internal;

import org.jspecify.annotations.NullMarked;
