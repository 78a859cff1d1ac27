package dev.lockstep.torture;

import dev.lockstep.torture.Witness.Seen;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Stamps times, keeps the registers and writes the history. Knows nothing of locks. Thread-safe: what happens
 * to one section, and to a register, happens under one monitor with its stamp.
 */
final class Observer {
    private final long origin = System.nanoTime() - 1;
    private final History history = new History();
    private final Registers[] registers;
    private final Map<Integer, Open> open = new HashMap<>();
    private final List<Violation> complaints = new ArrayList<>();
    private final Resources resources;
    private final long[] lastEntered;
    private final BitSet asked = new BitSet(); // for which of the resources
    private final Map<Integer, Long> lastEnteredBy = new HashMap<>();
    private final Victims victims = new Victims();
    private int reopened;
    private long sections;

    /** A section whose worker is still inside its call or inside the lock. */
    private static final class Open {
        final int client;
        final int lock;
        boolean inside;
        long token;
        long answered; // the stamp of the last message that was answered

        Open(int client, int lock) {
            this.client = client;
            this.lock = lock;
        }
    }

    Observer(int locks) {
        resources = new Resources(locks);
        registers = new Registers[resources.count()];
        lastEntered = new long[resources.count()];
        for (int lock = 0; lock < registers.length; lock++) {
            registers[lock] = new Registers();
        }
    }

    /** A witness for one thread of a client in this JVM. */
    Witness witness(int client) {
        return new LocalWitness(this, client);
    }

    long now() {
        return System.nanoTime() - origin;
    }

    synchronized int ask(int client, int lock, boolean shared, boolean fair) {
        int section = history.ask(client, lock, shared, fair, now());
        open.put(section, new Open(client, lock));
        asked.set(lock);
        return section;
    }

    synchronized int askPermits(int client, int semaphore, int permits, int limit) {
        int section = history.askPermits(client, semaphore, permits, limit, now());
        open.put(section, new Open(client, semaphore));
        asked.set(semaphore);
        return section;
    }

    synchronized int slot(int section, int lock) {
        int client = find(section).client;
        int slot = history.ask(client, lock, false, false, history.asked(section));
        open.put(slot, new Open(client, lock));
        return slot;
    }

    synchronized void queued(int section) {
        history.queued(section, now());
    }

    synchronized void inside(int section, int outer) {
        victims.inside(section, outer);
    }

    synchronized void victim(int section) {
        victims.failed(section);
    }

    /** Checks the calls that failed because of deadlocks; when all workers have ended. */
    synchronized void checkVictims(long settleNanos, Verdict verdict) {
        victims.check(history, settleNanos, verdict);
    }

    /** Whether a fair lock was asked for. */
    synchronized boolean hasFair() {
        return history.hasFair();
    }

    /** How many have asked since a time and shown that a fair lock keeps its order. */
    synchronized long orderWitnesses(long since, long settleNanos) {
        return new Checker(history, settleNanos).orderWitnesses(since);
    }

    synchronized Seen enter(int section, long token) {
        Open entered = find(section);
        long now = now();
        history.entered(section, now, token);
        entered.inside = true;
        entered.token = token;
        entered.answered = now;
        lastEntered[entered.lock] = now;
        lastEnteredBy.put(entered.client, now);
        sections++;
        return registers[entered.lock].read(token);
    }

    synchronized void write(int section, Seen seen, boolean valid) {
        Open writer = find(section);
        look(section, valid);
        registers[writer.lock].write(seen, valid, writer.token);
    }

    synchronized void look(int section, boolean valid) {
        Open inside = find(section);
        if (valid) {
            history.certain(section, inside.answered);
        }
        inside.answered = now();
    }

    synchronized void ended(int section) {
        find(section);
        history.ended(section, now());
    }

    synchronized void reopened() {
        reopened++;
    }

    /** How many times a lock has been entered so far. */
    synchronized long sections() {
        return sections;
    }

    /** How many clients were closed in the middle of work. */
    synchronized int reopenedClients() {
        return reopened;
    }

    /** A client, or all, were paused until now. */
    synchronized void stalled(int client, long nanos) {
        long now = now();
        history.add(FaultWindow.stall(client, now - nanos, now));
    }

    synchronized void exit(int section, boolean valid) {
        // A client that leaves with a valid lease does not wait until this is stamped, and may have released the lock
        // by now. So it was inside at the last message that it had an answer to.
        long inside = valid ? find(section).answered : now();
        look(section, valid);
        history.exited(section, inside);
        open.remove(section);
    }

    synchronized void giveUp(int section) {
        history.exited(section, now());
        open.remove(section);
    }

    synchronized void complain(Rule rule, int lock, String text) {
        complaints.add(new Violation(rule, lock, now(), text, ""));
    }

    /** A client was killed: it is no longer inside anything. */
    synchronized void died(int client) {
        open.entrySet().removeIf(entry -> {
            boolean its = entry.getValue().client == client;
            if (its) {
                history.exited(entry.getKey(), now());
            }
            return its;
        });
    }

    /** The clients inside of each lock. */
    record Inside(int client, int lock) {}

    synchronized Set<Inside> inside() {
        return open.values().stream()
                .filter(section -> section.inside)
                .map(section -> new Inside(section.client, section.lock))
                .collect(Collectors.toSet());
    }

    synchronized void add(FaultWindow fault) {
        history.add(fault);
    }

    /** Whether every lock was entered after a time, and so were the election and the semaphore, if the engine has them. */
    synchronized boolean allEnteredAfter(long stamp) {
        for (int lock = 0; lock < resources.slot(0); lock++) {
            boolean used = lock < resources.locks() || asked.get(lock);
            if (used && lastEntered[lock] <= stamp) {
                return false;
            }
        }
        return true;
    }

    /** Whether a client entered a lock after a time. */
    synchronized boolean hasEnteredAfter(long stamp, int client) {
        return lastEnteredBy.getOrDefault(client, History.NEVER) > stamp;
    }

    synchronized List<Violation> complaints() {
        return List.copyOf(complaints);
    }

    /** The history; read it when all workers have ended. */
    synchronized History history() {
        return history;
    }

    synchronized List<Registers> registers() {
        return List.of(registers);
    }

    private Open find(int section) {
        Open found = open.get(section);
        if (found == null) {
            throw new IllegalStateException("section " + section + " is over");
        }
        return found;
    }
}
