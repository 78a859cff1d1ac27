package dev.lockstep.internal.turnstile;

/**
 * The result of a call's arrival: it has a {@link Hold}; or it is a {@link Waiter}, which waits or has its result
 * already; or, inside the turnstile, it has a {@link Passage}, because no other call is here and it asks the engine
 * itself.
 */
public sealed interface Entry permits Hold, Waiter, Passage {}
