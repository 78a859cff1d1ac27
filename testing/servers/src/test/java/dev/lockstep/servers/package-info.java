@NullMarked
package dev.lockstep.servers;

import org.jspecify.annotations.NullMarked;
