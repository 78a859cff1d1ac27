package dev.lockstep.torture;

/** What the messages between a worker's process and the observer begin with. Each is answered before the next is sent. */
enum Wire {
    ASK,
    QUEUED,
    ENTER,
    WRITE,
    LOOK,
    ENDED,
    EXIT,
    GIVE_UP,
    REOPENED,
    STALLED,
    COMPLAIN
}
