package dev.lockstep.torture;

/**
 * The reports of a worker to the observer about one of its threads, one message after the other. Each method returns
 * when the observer has stamped the message, unless it says otherwise. Not for several threads.
 */
interface Witness {
    /** The values of the registers of a lock. */
    record Seen(long naive, long deadline, long fenced) {
        /** Marks a fenced register that refused to be read: a higher token has been there. */
        static final long STALE = -1;
    }

    /** A call begins after this. Gives the number of its section. */
    int ask(int lock, boolean shared, boolean fair);

    /** A call for some permits of a semaphore begins after this. Gives the number of its section. */
    int askPermits(int semaphore, int permits, int limit);

    /** A call for permits got a slot. Gives the number of a section of the slot, which began when the call did. */
    int slot(int section, int lock);

    /** The engine has the claim of the call: it was seen there. */
    void queued(int section);

    /** The thread makes the call while it is inside another section. */
    void inside(int section, int outer);

    /** The call failed because of a deadlock. */
    void victim(int section);

    /** The call has the lock. Reads the registers. */
    Seen enter(int section, long token);

    /**
     * Still inside. Writes the registers, each with one more than was seen: the first always, the second if the lease was
     * valid, the third if no higher token has been there.
     *
     * @param valid whether the lease was valid at a look after the last answer
     */
    void write(int section, Seen seen, boolean valid);

    /** Still inside, to read. */
    void look(int section, boolean valid);

    /** The lease has ended while inside, though no bound of its own was set to it. */
    void ended(int section);

    /**
     * Leaves; releases the lock after this. If the lease was valid at a look after the last answer, that look proves all that
     * there is to prove, and this may return before the message was stamped.
     */
    void exit(int section, boolean valid);

    /** The call ended without the lock. May return before the message was stamped. */
    void giveUp(int section);

    /** The client was opened again, and the old one closed in the middle of work. */
    void reopened();

    /** The client was paused until now. */
    void stalled(long nanos);

    /** Something was seen that must not be. */
    void complain(Rule rule, int lock, String text);
}
