package dev.lockstep.console;

import dev.lockstep.LockInfo;
import dev.lockstep.console.Located.Key;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The changes between samples, for the locks that changed last. Events between two samples are not seen. A lock that is
 * listed at times alone, since there are too many, has not changed by that. Thread-safe.
 */
final class Changes {
    static final int MOST_LOCKS = 2_000;
    static final int MOST_EACH = 30;

    private final Map<Key, Deque<Change>> byLock = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Deque<Change>> eldest) {
            return size() > MOST_LOCKS;
        }
    };
    private Map<Key, LockInfo> before = Map.of();
    private boolean first = true;
    private boolean truncated;

    /** The kinds of changes of an entry. */
    enum Kind {
        /** It holds the lock now. */
        ACQUIRED,
        /** It does not hold the lock any more. */
        RELEASED,
        /** It waits now. */
        WAITING,
        /** It stopped waiting, and does not hold the lock. */
        LEFT
    }

    /** The change. */
    record Change(Instant at, Kind kind, LockInfo.Entry entry) {}

    synchronized void add(Sample sample) {
        Map<Key, LockInfo> now = new HashMap<>();
        sample.locks().forEach(lock -> now.put(lock.key(), lock.info()));
        if (!first) {
            now.forEach((key, info) -> {
                if (before.containsKey(key) || !truncated) {
                    compare(sample.at(), key, before.getOrDefault(key, LockInfo.free("")), info);
                }
            });
            before.forEach((key, info) -> {
                if (!now.containsKey(key) && !sample.cost().truncated()) {
                    compare(sample.at(), key, info, LockInfo.free(""));
                }
            });
        }
        first = false;
        truncated = sample.cost().truncated();
        before = now;
    }

    synchronized List<Change> of(Key lock) {
        return new ArrayList<>(byLock.getOrDefault(lock, new ArrayDeque<>()));
    }

    private void compare(Instant at, Key lock, LockInfo old, LockInfo now) {
        if (old == now
                || (old.holders().isEmpty()
                        && old.waiters().isEmpty()
                        && now.isFree()
                        && now.waiters().isEmpty())) {
            return;
        }
        Map<Object, LockInfo.Entry> heldBefore = index(old, LockInfo::holders);
        Map<Object, LockInfo.Entry> heldNow = index(now, LockInfo::holders);
        Map<Object, LockInfo.Entry> waitedBefore = index(old, LockInfo::waiters);
        Map<Object, LockInfo.Entry> waitNow = index(now, LockInfo::waiters);
        heldBefore.forEach((id, entry) -> {
            if (!heldNow.containsKey(id)) {
                add(lock, new Change(at, Kind.RELEASED, entry));
            }
        });
        waitedBefore.forEach((id, entry) -> {
            if (!waitNow.containsKey(id) && !heldNow.containsKey(id)) {
                add(lock, new Change(at, Kind.LEFT, entry));
            }
        });
        heldNow.forEach((id, entry) -> {
            if (!heldBefore.containsKey(id)) {
                add(lock, new Change(at, Kind.ACQUIRED, entry));
            }
        });
        waitNow.forEach((id, entry) -> {
            if (!waitedBefore.containsKey(id)) {
                add(lock, new Change(at, Kind.WAITING, entry));
            }
        });
    }

    private void add(Key lock, Change change) {
        Deque<Change> changes = byLock.computeIfAbsent(lock, unused -> new ArrayDeque<>());
        changes.addFirst(change);
        if (changes.size() > MOST_EACH) {
            changes.removeLast();
        }
    }

    private static Map<Object, LockInfo.Entry> index(LockInfo info, Function<LockInfo, List<LockInfo.Entry>> which) {
        Map<Object, LockInfo.Entry> entries = new LinkedHashMap<>();
        which.apply(info).forEach(entry -> entries.put(id(entry), entry));
        return entries;
    }

    /**
     * A claim keeps its id when it becomes a grant; where the engine does not show it, the asker identifies the claim.
     */
    private static Object id(LockInfo.Entry entry) {
        return entry.claim().isPresent() ? entry.claim().get() : entry.holder();
    }
}
