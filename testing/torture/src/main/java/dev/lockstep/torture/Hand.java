package dev.lockstep.torture;

import java.util.List;

/** A worker as the one who runs the torture has it: in this JVM, or in a process of its own. For one thread. */
interface Hand {
    /** The worker's number. */
    int client();

    void go(Worker.Pace pace);

    /** The calls that its threads are in; empty if none is, once it has been asked to rest. */
    String calls();

    /** How long it has been paused, in sum since some moment of the past. */
    long stalledNanos();

    /** Closes its client, but stays alive, so that resources still in use can be seen; says what it left over. */
    List<String> quit();
}
