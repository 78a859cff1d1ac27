package dev.lockstep.etcd;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/** The one key that a claim waits for, under a watch. Guarded by its claim. */
final class Blocker {
    private final Watches watches;
    private final Watches.Watcher watcher;
    private @Nullable ByteString key;
    private Watches.@Nullable Watch watch;
    private boolean changed;

    Blocker(Watches watches, Watches.Watcher watcher) {
        this.watches = watches;
        this.watcher = watcher;
    }

    /** The key, if it has not changed as far as is known: to see whether it is still there. */
    @Nullable
    ByteString unchanged() {
        return changed ? null : key;
    }

    /** Waits for a key. Whatever was told of it before this is not news any more. */
    void follow(ByteString blocker) {
        changed = false;
        if (!blocker.equals(key)) {
            forget();
            key = blocker;
            watch = watches.watch(blocker, watcher);
        }
    }

    /** It has gone, or has become shared. */
    void markChanged() {
        changed = true;
    }

    void forget() {
        if (watch != null) {
            watch.cancel();
        }
        watch = null;
        key = null;
        changed = false;
    }
}
