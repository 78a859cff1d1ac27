/**
 * Locks on ZooKeeper. With this artifact on the class path, {@link dev.lockstep.LockClient#connect(String)} takes {@code
 * zookeeper://host:2181,host:2181/chroot} URLs; {@link dev.lockstep.zookeeper.ZooKeeperEngine} says what a URL cannot.
 *
 * <pre>{@code
 * LockClient locks = LockClient.connect("zookeeper://localhost:2181");
 * }</pre>
 *
 * <p>Claims are ephemeral sequential nodes, and each waiter watches only the one before it. A client has one session, and more
 * of them while it has thousands of claims, because the end of a session is one transaction with all its nodes;
 * {@code queue=off} is the textbook's single node instead. The token is the transaction id of the claim's node.
 */
@NullMarked
package dev.lockstep.zookeeper;

import org.jspecify.annotations.NullMarked;
