package dev.lockstep.memory;

import dev.lockstep.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Messages to clients: collected while a monitor is held, delivered in this order after it was left. */
final class Notices {
    private final List<MemoryGrant> receivers = new ArrayList<>(2);
    private final List<Runnable> notices = new ArrayList<>(2);
    private final List<Runnable> changes = new ArrayList<>(0);

    void granted(MemoryGrant grant) {
        add(grant, grant::tellGranted);
    }

    void busy(MemoryGrant grant) {
        add(grant, grant::tellBusy);
    }

    void refused(MemoryGrant grant, OptionalInt limit) {
        add(grant, () -> grant.tellRefused(limit));
    }

    void wanted(MemoryGrant grant) {
        add(grant, grant::signalWanted);
    }

    void lost(MemoryGrant grant, LossReason reason) {
        add(grant, () -> grant.signalLost(reason));
    }

    /** Notify the watchers of a lock that its holders may have changed. */
    void changed(Watchers watchers, String name) {
        if (watchers.isAny()) {
            changes.add(() -> watchers.changed(name));
        }
    }

    private void add(MemoryGrant receiver, Runnable notice) {
        receivers.add(receiver);
        notices.add(notice);
    }

    void deliver() {
        for (int i = 0; i < notices.size(); i++) {
            receivers.get(i).backend().link().toClient(notices.get(i));
        }
        changes.forEach(Runnable::run);
    }
}
