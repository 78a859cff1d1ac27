@NullMarked
package dev.lockstep.internal.events;

import org.jspecify.annotations.NullMarked;
