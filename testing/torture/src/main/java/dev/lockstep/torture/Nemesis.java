package dev.lockstep.torture;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.servers.ServerException;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** Breaks one thing after the other, as its seed says. For one thread. */
final class Nemesis {
    private static final int TRIES_TO_HEAL = 5;
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final List<Fault> faults;
    private final Observer observer;
    private final long ttlNanos;
    private final long seed;
    private int next;

    Nemesis(List<Fault> faults, Observer observer, Duration ttl, long seed) {
        this.faults = List.copyOf(faults);
        this.observer = observer;
        this.ttlNanos = ttl.toNanos();
        this.seed = seed;
    }

    /**
     * Breaks things for a time, each kind as often as the others; all is healed when it returns.
     *
     * @param progress hears after each fault how many there have been
     */
    void rage(long nanos, LongConsumer progress) throws Exception {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            Random random = Seeds.of(seed, next);
            if (!faults.isEmpty()) {
                inflict(choose(next), random);
            }
            Parking.forNanos(Math.min(between(0.05, 0.5, random), end - System.nanoTime()));
            next++;
            progress.accept(next);
        }
    }

    /** The fault at a place in the schedule: all kinds in turn, in another order each time. */
    Fault choose(int place) {
        List<Fault> order = new ArrayList<>(faults);
        Collections.shuffle(order, Seeds.of(seed, -1 - place / order.size()));
        return order.get(place % order.size());
    }

    void inflict(Fault fault, Random random) throws Exception {
        fault.prepare().run();
        long from = observer.now();
        Set<Observer.Inside> inside = observer.inside();
        Fault.Injected injected;
        try {
            injected = fault.injection().inject(random);
        } catch (Fault.UnconfirmedException e) {
            // It may have been carried out, and the affected clients are known: no other client is excused.
            add(FaultWindow.failed(fault.kind()), fault.excuses(), e.attempted(), from, Set.of());
            return;
        } catch (IOException | SQLException | LockUnavailableException | ServerException e) {
            // A part that is missing, such as a leader while none is elected, cannot be broken, so this excuses no
            // rule. The window is there for the report; and since a part may have been done, threads that waited
            // meanwhile are no witnesses of the order.
            Fault.Injected unknown = Fault.Injected.all("unknown", Fault.Act.NONE);
            add(FaultWindow.failed(fault.kind()), Set.of(), unknown, from, Set.of());
            return;
        } catch (LockstepException e) {
            observer.complain(Rule.OUTCOME, -1, fault.kind() + ": a call of an operator threw " + e);
            return;
        }
        try {
            Parking.forNanos(nanos(fault.length(), random));
        } finally {
            heal(injected.heal());
        }
        add(fault.kind(), fault.excuses(), injected, from, inside);
    }

    private void add(String kind, Set<Rule> excuses, Fault.Injected injected, long from, Set<Observer.Inside> inside) {
        FaultWindow window = new FaultWindow(
                kind, injected.target(), injected.client(), injected.lock(), excuses, from, observer.now(), false);
        boolean landed = inside.stream().anyMatch(each -> window.hurts(each.client(), each.lock()));
        observer.add(landed ? window.thatLanded() : window);
    }

    /** A server that is started on a busy machine may not be ready in time the first time. */
    static void heal(Fault.Act heal) throws Exception {
        for (int tries = 1; ; tries++) {
            try {
                heal.run();
                return;
            } catch (ServerException e) {
                if (tries == TRIES_TO_HEAL) {
                    throw new IllegalStateException("A fault could not be healed: " + e.getMessage(), e);
                }
            }
        }
    }

    private long nanos(Fault.Length length, Random random) {
        return switch (length) {
            case MOMENT -> 0;
            case SHORT -> between(0.05, 0.7, random);
            case LONG -> between(1.1, 1.8, random);
            case ANY -> random.nextBoolean() ? between(0.05, 0.7, random) : between(1.1, 1.8, random);
        };
    }

    private long between(double least, double most, Random random) {
        return SHORTEST_NANOS + (long) (ttlNanos * (least + (most - least) * random.nextDouble()));
    }
}
