@NullMarked
package dev.lockstep.internal.client;

import org.jspecify.annotations.NullMarked;
