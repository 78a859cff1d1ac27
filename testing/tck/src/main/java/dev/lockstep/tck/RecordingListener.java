package dev.lockstep.tck;

import dev.lockstep.LockListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Writes down what a listener hears, and whether it was ever called by two threads at once. */
final class RecordingListener implements LockListener {
    private final List<Object> events = new CopyOnWriteArrayList<>();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger overlaps = new AtomicInteger();

    private void record(Object event) {
        if (inside.getAndIncrement() != 0) {
            overlaps.incrementAndGet();
        }
        events.add(event);
        inside.decrementAndGet();
    }

    @Override
    public void onAcquired(Acquired event) {
        record(event);
    }

    @Override
    public void onHandedOff(HandedOff event) {
        record(event);
    }

    @Override
    public void onReleased(Released event) {
        record(event);
    }

    @Override
    public void onUnconfirmed(Unconfirmed event) {
        record(event);
    }

    @Override
    public void onLost(Lost event) {
        record(event);
    }

    @Override
    public void onDeadlock(Deadlock event) {
        record(event);
    }

    @Override
    public void onUnreachable(Unreachable event) {
        record(event);
    }

    @Override
    public void onReachable(Reachable event) {
        record(event);
    }

    @Override
    public void onFallbackEntered(FallbackEntered event) {
        record(event);
    }

    @Override
    public void onFallbackLeft(FallbackLeft event) {
        record(event);
    }

    /** All events in order. */
    List<Object> events() {
        return List.copyOf(events);
    }

    /** The kinds of all events in order, such as {@code Acquired}. */
    List<String> kinds() {
        return events.stream().map(event -> event.getClass().getSimpleName()).toList();
    }

    List<Acquired> acquired() {
        return only(Acquired.class);
    }

    List<Released> released() {
        return only(Released.class);
    }

    List<Lost> lost() {
        return only(Lost.class);
    }

    <T> List<T> only(Class<T> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    int overlaps() {
        return overlaps.get();
    }
}
