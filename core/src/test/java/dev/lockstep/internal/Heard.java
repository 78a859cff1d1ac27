package dev.lockstep.internal;

import dev.lockstep.LockListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that keeps what it heard of holds. */
public class Heard implements LockListener {
    public final List<String> events = new CopyOnWriteArrayList<>();

    @Override
    public void onAcquired(Acquired event) {
        events.add("acquired");
    }

    @Override
    public void onHandedOff(HandedOff event) {
        events.add("handed off");
    }

    @Override
    public void onReleased(Released event) {
        events.add("released");
    }

    @Override
    public void onUnconfirmed(Unconfirmed event) {
        events.add("unconfirmed");
    }

    @Override
    public void onLost(Lost event) {
        events.add("lost " + event.reason());
    }
}
