package dev.lockstep.torture;

/** What the messages between a worker's process and the observer begin with. Each is answered before the next is sent. */
enum Wire {
    ASK,
    QUEUED,
    ENTER,
    WRITE,
    LOOK,
    EXIT,
    GIVE_UP,
    COMPLAIN
}
