package dev.lockstep.torture;

/** The work of one thread of a worker, turn by turn, as its seed says. For one thread. */
interface Activity {
    /** One turn. */
    void next();

    /** Reports an error that ended a turn although nothing may end one. */
    void complain(Throwable failure);
}
