package dev.lockstep.torture;

import java.time.Duration;
import java.util.List;

/** A worker as the one who runs the torture has it: in this JVM, or in a process of its own. For one thread. */
interface Hand {
    /** The worker's number. */
    int client();

    void go(Worker.Pace pace);

    /** Lets it finish what it does; empty if it does in time, else where it hangs. */
    String rest(Duration patience);

    /** Closes its client; says what was left over by it. */
    List<String> quit();
}
