package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.proto.Etcd.Event;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Follows the keys that a claim waits for, under one watch. Guarded by its claim. */
final class Blocker {
    /*
     * Overview. If one look has shown everything that stands before a claim, the claim need not look again: all later
     * claims stand behind it, so it holds the lock as soon as enough of those before it have gone. An event counts only
     * if it is newer than the look, since the watch may begin at a member that lags behind. Such an event is about the
     * claims that the look has shown, even if their keys are used again afterwards.
     */
    private final Watches watches;
    private final Watches.Watcher watcher;
    private final boolean shares; // waits no longer for a claim that becomes shared
    private @Nullable Blockers target;
    private Watches.@Nullable Watch watch;
    private boolean changed;
    private final Map<ByteString, Integer> counted = new HashMap<>(); // the target's keys that have not gone
    private long missing;

    /** The meaning of an event for the claim. */
    enum News {
        /** Nothing. */
        NONE,
        /** A claim before it has gone, but not enough of them have. */
        ONE_LESS,
        /** It must look. */
        LOOK,
        /** Nothing stands before it any more. */
        FREE
    }

    Blocker(Watches watches, Watches.Watcher watcher, ClaimTerms terms) {
        this.watches = watches;
        this.watcher = watcher;
        this.shares = terms.limit() == 0 && terms.mode() == LockMode.SHARED;
    }

    /** The keys that it waits for, if no change to them is known. Used to check whether they are still there. */
    @Nullable
    Blockers unchanged() {
        return changed ? null : target;
    }

    /** Waits for these keys. Events that came before this call are ignored. */
    void follow(Blockers blockers) {
        Blockers before = target;
        if (before == null || !before.isSameKey(blockers)) {
            forget();
            watch = blockers.all()
                    ? watches.watchDeletions(blockers.key(), watcher)
                    : watches.watch(blockers.key(), watcher);
        }
        changed = false;
        target = blockers;
        counted.clear();
        counted.putAll(blockers.counted());
        missing = blockers.missing();
    }

    /** The watch has seen something. */
    News heard(Event event) {
        Blockers waitsFor = target;
        if (waitsFor == null || event.getKv().getModRevision() <= waitsFor.revision()) {
            return News.NONE;
        }
        if (waitsFor.counted().isEmpty()) {
            return News.LOOK;
        }
        Integer permits = counted.get(event.getKv().getKey());
        if (permits == null) {
            return News.NONE; // a claim behind this one has left
        }
        boolean becameShared = event.getType() == Event.EventType.PUT
                && shares
                && event.getKv().getVersion() > 1;
        if (event.getType() != Event.EventType.DELETE && !becameShared) {
            return News.LOOK;
        }
        counted.remove(event.getKv().getKey());
        missing -= permits;
        return missing <= 0 ? News.FREE : News.ONE_LESS;
    }

    /** The target has changed. */
    void markChanged() {
        changed = true;
    }

    void forget() {
        if (watch != null) {
            watch.cancel();
        }
        watch = null;
        target = null;
        changed = false;
    }
}
