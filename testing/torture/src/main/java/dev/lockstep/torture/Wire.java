package dev.lockstep.torture;

/**
 * The first words of messages between a worker's process and the observer. Each is answered before the next is sent,
 * except for those that need no stamp of their own to prove something, which are not answered at all.
 */
enum Wire {
    ASK,
    ASK_PERMITS,
    SLOT,
    QUEUED,
    INSIDE,
    VICTIM,
    ENTER,
    WRITE,
    LOOK,
    ENDED,
    EXIT_VALID,
    EXIT_ENDED,
    GIVE_UP,
    REOPENED,
    STALLED,
    COMPLAIN;

    boolean isAnswered() {
        return this != EXIT_VALID && this != GIVE_UP;
    }
}
