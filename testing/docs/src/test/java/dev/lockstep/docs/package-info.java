/** Keeps the guide true: what its pages show is compared with the code, and its languages with each other. */
@NullMarked
package dev.lockstep.docs;

import org.jspecify.annotations.NullMarked;
