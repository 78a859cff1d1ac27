/**
 * The API of Lockstep: distributed locks that look like {@link java.util.concurrent.locks.Lock}.
 *
 * <p>Start at {@link dev.lockstep.LockClient#connect(String)}. Everything here is engine-independent; the URL alone
 * selects the engine. Unless a type says otherwise, it is safe for use by many threads.
 *
 * <p>The words mean the same everywhere: a <em>lock</em> has a name; a <em>claim</em> asks an engine for it; a
 * <em>grant</em> is the engine's yes; a <em>lease</em> is one hold of it by a thread or a handle; a <em>token</em>
 * orders holds; a hold can end by <em>loss</em>, and its holder is notified.
 */
@NullMarked
package dev.lockstep;

import org.jspecify.annotations.NullMarked;
