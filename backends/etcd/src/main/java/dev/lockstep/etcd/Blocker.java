package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import dev.lockstep.LockMode;
import dev.lockstep.etcd.proto.Etcd.Event;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Follows what a claim waits for, under one watch. Guarded by its claim. */
final class Blocker {
    /*
     * Overview. If one look has shown everything that stands before a claim, the claim need not look again: whatever comes
     * later stands behind it, so it holds the lock as soon as enough of that has gone. An event counts if it is younger
     * than the look, since the watch may begin at a member that is behind: then it is about the very claims that the look
     * has shown, even though their keys may be used again afterwards.
     */
    private final Watches watches;
    private final Watches.Watcher watcher;
    private final boolean shares; // waits no longer for a claim that becomes shared
    private @Nullable Blockers target;
    private Watches.@Nullable Watch watch;
    private boolean changed;
    private final Map<ByteString, Integer> counted = new HashMap<>(); // of the target: those that have not gone
    private long missing;

    /** What an event means for the claim. */
    enum News {
        /** Nothing. */
        NONE,
        /** One of those that stand before it has gone, but not enough. */
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

    /** What it waits for, if that has not changed as far as is known: to see whether it is still there. */
    @Nullable
    Blockers unchanged() {
        return changed ? null : target;
    }

    /** Waits for something. Whatever was told of it before this is not news any more. */
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
            return News.NONE; // who stands behind the claim has left
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

    /** It is not as it was. */
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
