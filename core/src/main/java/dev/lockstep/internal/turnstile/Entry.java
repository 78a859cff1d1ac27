package dev.lockstep.internal.turnstile;

/**
 * What becomes of a call that arrives: it has a {@link Hold}; or it is a {@link Waiter}, which waits or has its result
 * already; or, inside the turnstile, it goes on with a {@link Passage}, because nobody else is here and it asks the engine
 * itself.
 */
public sealed interface Entry permits Hold, Waiter, Passage {}
