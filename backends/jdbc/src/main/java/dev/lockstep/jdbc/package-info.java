/** Locks on SQL databases: PostgreSQL, MySQL, MariaDB, H2, SQLite. */
@NullMarked
package dev.lockstep.jdbc;

import org.jspecify.annotations.NullMarked;
