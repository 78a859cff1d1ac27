package dev.lockstep.torture;

/** What one thread of a worker does, turn by turn, as its seed says. For one thread. */
interface Activity {
    /** One turn. */
    void next();

    /** Reports an error that ended a turn although nothing may end one. */
    void complain(Throwable failure);
}
