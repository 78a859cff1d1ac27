package dev.lockstep.internal.sim;

import static dev.lockstep.internal.sim.World.MILLI;

import dev.lockstep.DeadlockException;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.WaitGraph;
import dev.lockstep.internal.turnstile.SimThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Threads that take several locks in any order: every deadlock is resolved, no call fails without one, and no record of a wait
 * outlives it.
 */
final class DeadlockHistory extends RecipeWorld {
    private static final int LOCKS = 4;
    private static final long SAMPLE = MILLI;

    private final List<Person> people = new ArrayList<>();
    private final boolean calm;

    /** How long an answer takes at most. */
    private final long delay;

    private final boolean readers;
    private boolean finishing;
    private boolean over;
    private int victims;

    DeadlockHistory(long seed, boolean recording) {
        super(seed, recording);
        calm = world.chance(60);
        readers = world.chance(50);
        delay = world.chance(40) ? 25 * MILLI : world.chance(60) ? 2 * MILLI : 0;
        for (Node node : nodes) {
            delayReplies(node, delay);
            for (int i = 1 + world.below(3); i > 0; i--) {
                people.add(new Person(node));
            }
        }
        world.after(0, null, this::sample);
    }

    private void delayReplies(Node node, long longest) {
        engine.delayReplies(id(node), Duration.ofNanos(longest == 0 ? 0 : 1 + world.time(longest)));
    }

    int victims() {
        return victims;
    }

    @Override
    int faults() {
        return calm ? 0 : 8;
    }

    /** From the middle of two looks to the failure of a call: the second look takes one answer after the other. */
    private long recent() {
        return RECORD_AFTER + 6 * delay;
    }

    @Override
    void act(int node) {
        List<Person> here =
                people.stream().filter(person -> person.node == nodes[node]).toList();
        here.get(world.below(here.size())).act();
    }

    /** First it is checked that nothing is recorded of threads that do not wait; then all of them leave. */
    @Override
    void finish() {
        for (Node node : nodes) {
            delayReplies(node, Math.min(delay, MILLI));
        }
        world.after(6 * RECORD_AFTER, null, () -> {
            people.forEach(Person::checkRecords);
            finishing = true;
            people.forEach(Person::leave);
        });
    }

    @Override
    void checkServed() {
        for (Person person : people) {
            if (person.call != null) {
                world.violate("L: person " + person.number + " still waits for " + person.wanted
                        + " though all deadlocks should be resolved: " + observer.waitGraph());
            }
        }
        over = true;
    }

    @Override
    void leave() {
        // Nothing is left to leave.
    }

    // ---------------------------------------------------------------- what is true

    private void sample() {
        if (over) {
            return;
        }
        Set<Person> blocked = new HashSet<>(people);
        boolean changed = true;
        while (changed) { // a call that waits only for unblocked holders will continue
            changed = blocked.removeIf(person -> person.blockers().stream().noneMatch(blocked::contains));
        }
        blocked.forEach(person -> person.lastBlocked = world.now());
        world.after(SAMPLE, null, this::sample);
    }

    private final class Person {
        final int number = people.size() + 1;
        final Node node;
        private final Thread thread = new Thread("person-" + number);
        private final Map<String, SimThread> held = new LinkedHashMap<>();
        private final Set<String> read = new HashSet<>();
        private @Nullable SimThread call;
        private String wanted = "";
        private LockMode mode = LockMode.EXCLUSIVE;
        private boolean bounded;
        private long lastBlocked = Long.MIN_VALUE / 2;

        Person(Node node) {
            this.node = node;
        }

        /** The clients that must act before the call can have the lock. */
        List<Person> blockers() {
            if (call == null || call.isDone()) {
                return List.of();
            }
            boolean behindWriter = people.stream()
                    .anyMatch(other ->
                            other.call != null && other.wanted.equals(wanted) && other.mode == LockMode.EXCLUSIVE);
            return people.stream()
                    .filter(other -> other.held.containsKey(wanted)
                            && (mode == LockMode.EXCLUSIVE || behindWriter || !other.read.contains(wanted)))
                    .toList();
        }

        void act() {
            if (call != null) {
                if (world.chance(4) && call.interrupt()) {
                    world.trace("interrupt", node.index, number, 0);
                }
                look();
            } else if (!held.isEmpty() && world.chance(30)) {
                release(held.keySet().iterator().next());
            } else {
                want();
            }
        }

        private void want() {
            String name = "lock-" + world.below(LOCKS);
            if (held.containsKey(name) || finishing) {
                return;
            }
            wanted = name;
            mode = readers && world.chance(40) ? LockMode.SHARED : LockMode.EXCLUSIVE;
            bounded = world.chance(20);
            world.trace("want", node.index, number, name.hashCode());
            try {
                call = new SimThread(
                        thread,
                        clients[node.index - 1],
                        name,
                        mode,
                        LockOptions.defaults(),
                        bounded ? 1 + world.time(4 * RECORD_AFTER) : SimThread.FOREVER);
            } catch (LockLostException e) {
                return; // one that it has not released yet
            }
            look();
        }

        /** A thread looks when it is woken, or when its time is up; the latest is soon. */
        private void look() {
            SimThread current = call;
            if (current == null) {
                return;
            }
            if (!current.look()) {
                world.after(1 + world.time(MILLI), node, () -> {
                    if (call == current) {
                        look();
                    }
                });
                return;
            }
            call = null;
            Lease lease = current.lease();
            Throwable error = current.error();
            if (lease != null) {
                held.put(wanted, current);
                if (mode == LockMode.SHARED) {
                    read.add(wanted);
                }
            } else if (error instanceof DeadlockException deadlock) {
                failed(deadlock);
            } else if (error != null && !(error instanceof LockUnavailableException)) {
                world.violate("person " + number + ": " + error);
            }
            if (finishing || error != null) {
                leave();
            }
        }

        private void failed(DeadlockException failure) {
            world.trace("deadlock", node.index, number, 0);
            victims++;
            if (bounded) {
                world.violate("D: the call of person " + number + " has a deadline of its own");
            }
            WaitGraph.Cycle cycle = failure.cycle().orElseThrow();
            WaitGraph.Edge victim = cycle.victim();
            if (!held.containsKey(victim.lock()) || !victim.waitsFor().lock().equals(wanted)) {
                world.violate("D: person " + number + " failed, and the victim is another: " + cycle);
            }
            boolean well = true;
            for (Node other : nodes) {
                well &= world.now() - Math.max(other.faultyUntil(), other.resumedAt()) > recent();
            }
            if (well && world.now() - lastBlocked > recent()) {
                world.violate("D: person " + number + " was in no cycle for " + (world.now() - lastBlocked) / MILLI
                        + " ms: " + cycle);
            }
        }

        private void release(String name) {
            SimThread taken = held.remove(name);
            read.remove(name);
            if (taken != null) {
                world.trace("release", node.index, number, name.hashCode());
                try {
                    taken.giveBack().exceptionally(error -> null);
                } catch (LockLostException e) {
                    // It was lost before.
                }
            }
        }

        void leave() {
            if (call == null) {
                List.copyOf(held.keySet()).forEach(this::release);
            }
        }

        /** A wait that a client has recorded must be true of one of its threads. */
        void checkRecords() {
            for (String name : held.keySet()) {
                observer.inspect(name).holders().stream()
                        .filter(holder -> holder.holder().client().equals(id(node)))
                        .flatMap(holder -> holder.waitsFor().stream())
                        .forEach(wait -> checkRecord(name, wait.lock(), wait.thread()));
            }
        }

        private void checkRecord(String name, String target, String waiting) {
            boolean known = people.stream()
                    .anyMatch(other -> other.node == node
                            && other.call != null
                            && other.wanted.equals(target)
                            && other.held.containsKey(name)
                            && waiting.startsWith(other.thread.getName() + " "));
            if (!known) {
                world.violate("V: " + waiting + " is recorded to hold " + name + " and wait for " + target
                        + ", which it does not");
            }
        }
    }
}
