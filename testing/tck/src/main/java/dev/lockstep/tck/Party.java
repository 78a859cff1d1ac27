package dev.lockstep.tck;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.WaitGraph;
import java.util.List;

/** A thread of a client, which holds a lock and wants others. */
final class Party {
    final RecordingListener heard;
    final LockClient client;
    final Actor actor;

    Party(LockClient client, RecordingListener heard, Actor actor) {
        this.client = client;
        this.heard = heard;
        this.actor = actor;
    }

    void holds(DistributedLock lock) throws Exception {
        actor.does(lock::lockInterruptibly);
    }

    /** Takes a lock and releases it. */
    Call<Boolean> wants(DistributedLock lock) {
        return actor.starts(() -> {
            lock.lockInterruptibly();
            lock.unlock();
        });
    }

    void releases(DistributedLock lock) throws Exception {
        actor.does(lock::unlock);
    }

    List<WaitGraph.Cycle> deadlocks() {
        return heard.only(LockListener.Deadlock.class).stream()
                .map(LockListener.Deadlock::cycle)
                .toList();
    }
}
