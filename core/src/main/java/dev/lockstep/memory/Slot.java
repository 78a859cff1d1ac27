package dev.lockstep.memory;

/** What the table has under a name that is in use: its one exclusive holder, or all that there is to know. */
sealed interface Slot permits MemoryGrant, LockState {
    /** The lock's name. */
    String name();
}
