@NullMarked
package dev.lockstep.internal.engine;

import org.jspecify.annotations.NullMarked;
