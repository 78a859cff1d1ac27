/**
 * A web page for operators that shows holders, waiters and what blocks whom. {@link dev.lockstep.console.Console} serves it, alone
 * on a port of its own or inside a service.
 */
@NullMarked
package dev.lockstep.console;

import org.jspecify.annotations.NullMarked;
