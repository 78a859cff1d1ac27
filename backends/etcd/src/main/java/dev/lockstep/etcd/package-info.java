/** Locks on etcd. */
@NullMarked
package dev.lockstep.etcd;

import org.jspecify.annotations.NullMarked;
