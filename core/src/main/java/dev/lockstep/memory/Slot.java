package dev.lockstep.memory;

/** The entry of the table for a name that is in use: its one exclusive holder, or its whole state. */
sealed interface Slot permits MemoryGrant, LockState {
    /** The lock's name. */
    String name();
}
