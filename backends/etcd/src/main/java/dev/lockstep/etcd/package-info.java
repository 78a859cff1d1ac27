/**
 * Locks on etcd 3.4 and newer: {@code etcd://host:2379,host:2379}, {@code etcds://} for TLS, or {@link
 * dev.lockstep.etcd.EtcdEngine} for settings that are better not in a URL.
 *
 * <pre>{@code
 * LockClient locks = LockClient.connect("etcd://localhost:2379");
 * }</pre>
 *
 * <p>Claims are keys on leases of their client, ordered by their create revision, which is also the token; each waiter watches
 * only the key before it. {@link dev.lockstep.etcd.EtcdGuard} ties your own transactions on the same cluster to a lock.
 */
@NullMarked
package dev.lockstep.etcd;

import org.jspecify.annotations.NullMarked;
