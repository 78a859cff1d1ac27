package dev.lockstep.internal.sim;

import dev.lockstep.internal.sim.LockServer.Session;

/** Something asked of the server, until it is answered. */
abstract class Rpc {
    final long began;
    boolean done;

    Rpc(World world) {
        began = world.now();
    }

    /** Runs on the server. It returns the reply, to be run on the node. */
    abstract Runnable apply(Session within, boolean alive);

    /** Nothing was heard for long: the report that the SPI prescribes. The tries continue. */
    void silent() {}

    /** The server answered that it cannot do this now. The tries continue. */
    abstract void refused();

    /** Whether it has been tried for a time. */
    boolean isOlderThan(World world, long time) {
        return world.now() - began > time;
    }

    /** Nothing was heard within the time for which the caller may be blocked. */
    void blocked() {
        silent();
    }
}
