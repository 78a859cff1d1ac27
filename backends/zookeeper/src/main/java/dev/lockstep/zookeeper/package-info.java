/** Locks on ZooKeeper. */
@NullMarked
package dev.lockstep.zookeeper;

import org.jspecify.annotations.NullMarked;
