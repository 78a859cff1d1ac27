package dev.lockstep.torture;

/** A witness in the observer's own JVM. */
record LocalWitness(Observer observer, int client) implements Witness {
    @Override
    public int ask(int lock, boolean shared, boolean fair) {
        return observer.ask(client, lock, shared, fair);
    }

    @Override
    public int askPermits(int semaphore, int permits, int limit) {
        return observer.askPermits(client, semaphore, permits, limit);
    }

    @Override
    public int slot(int section, int lock) {
        return observer.slot(section, lock);
    }

    @Override
    public void queued(int section) {
        observer.queued(section);
    }

    @Override
    public void inside(int section, int outer) {
        observer.inside(section, outer);
    }

    @Override
    public void victim(int section) {
        observer.victim(section);
    }

    @Override
    public Seen enter(int section, long token) {
        return observer.enter(section, token);
    }

    @Override
    public void write(int section, Seen seen, boolean valid) {
        observer.write(section, seen, valid);
    }

    @Override
    public void look(int section, boolean valid) {
        observer.look(section, valid);
    }

    @Override
    public void ended(int section) {
        observer.ended(section);
    }

    @Override
    public void reopened() {
        observer.reopened();
    }

    @Override
    public void stalled(long nanos) {
        observer.stalled(client, nanos);
    }

    @Override
    public void exit(int section, boolean valid) {
        observer.exit(section, valid);
    }

    @Override
    public void giveUp(int section) {
        observer.giveUp(section);
    }

    @Override
    public void complain(Rule rule, int lock, String text) {
        observer.complain(rule, lock, text);
    }
}
