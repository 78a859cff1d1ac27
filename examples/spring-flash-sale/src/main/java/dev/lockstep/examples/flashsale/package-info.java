/** A web service that sells exactly what it has, from two instances or more. */
@NullMarked
package dev.lockstep.examples.flashsale;

import org.jspecify.annotations.NullMarked;
