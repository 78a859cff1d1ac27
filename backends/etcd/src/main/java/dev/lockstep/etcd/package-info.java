/**
 * Locks on etcd 3.4 and newer: {@code etcd://host:2379,host:2379}, {@code etcds://} for TLS, or {@link
 * dev.lockstep.etcd.EtcdEngine} for settings that are better not in a URL.
 */
@NullMarked
package dev.lockstep.etcd;

import org.jspecify.annotations.NullMarked;
