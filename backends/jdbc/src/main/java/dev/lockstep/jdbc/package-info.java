/**
 * Locks on SQL databases: PostgreSQL, MySQL, MariaDB, H2 and SQLite. With this artifact and a JDBC driver on the class path,
 * {@link dev.lockstep.LockClient#connect(String)} takes any {@code jdbc:} URL of theirs; {@link
 * dev.lockstep.jdbc.JdbcEngine} locks through a {@link javax.sql.DataSource} that the application has already.
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder().backend(JdbcEngine.over(dataSource).createSchema(true)).connect();
 * }</pre>
 *
 * <p>A lock is a row, and a client proves that it is alive by another one: no connection is kept for a lock or a waiter, and
 * no statement carries a client's clock. PostgreSQL wakes waiters by {@code NOTIFY}; on the other databases waiters
 * poll. Lockstep never takes part in a transaction of the application.
 */
@NullMarked
package dev.lockstep.jdbc;

import org.jspecify.annotations.NullMarked;
