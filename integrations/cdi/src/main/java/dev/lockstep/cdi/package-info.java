/**
 * {@link dev.lockstep.annotation.Locked} for Jakarta CDI. The jar on the class path of a CDI 4 container is all that is needed:
 * {@link dev.lockstep.cdi.LockedExtension} registers the interceptor and checks each use of the annotation at deployment.
 */
@NullMarked
package dev.lockstep.cdi;

import org.jspecify.annotations.NullMarked;
