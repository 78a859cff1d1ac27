package dev.lockstep;

/** How a lock is held: alone, or together with other readers. */
public enum LockMode {
    /** Exactly one holder: a plain lock, or the write side of a read-write lock. */
    EXCLUSIVE,

    /** Any number of holders, and no exclusive one: the read side of a read-write lock. */
    SHARED
}
