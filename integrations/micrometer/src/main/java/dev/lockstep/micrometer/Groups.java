package dev.lockstep.micrometer;

import dev.lockstep.LockOptions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The groups of locks: no more than a monitoring system can handle, whatever the names are. Safe for use by many threads. */
final class Groups {
    /** How many groups there are at most, beside {@link #OTHER}. */
    static final int LIMIT = 100;

    static final String OTHER = "other";

    private static final Logger log = LoggerFactory.getLogger(Groups.class);

    private final LockGrouping grouping;
    private final Set<String> known = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean full = new AtomicBoolean();
    private final AtomicBoolean failed = new AtomicBoolean();

    Groups(LockGrouping grouping) {
        this.grouping = grouping;
    }

    /** The group of a lock. */
    String of(String lockName, LockOptions options) {
        return options.group().map(this::admitted).orElseGet(() -> of(lockName));
    }

    /** The group of a lock whose options have none. */
    String of(String lockName) {
        String chosen;
        try {
            chosen = grouping.group(lockName);
        } catch (RuntimeException e) {
            if (failed.compareAndSet(false, true)) {
                log.warn("The grouping of locks failed for '{}'; its group is '{}'", lockName, OTHER, e);
            }
            return OTHER;
        }
        return admitted(chosen == null ? beforeColon(lockName) : chosen);
    }

    private static String beforeColon(String lockName) {
        int colon = lockName.indexOf(':');
        return colon < 0 ? lockName : lockName.substring(0, colon);
    }

    private String admitted(String group) {
        if (known.contains(group)) {
            return group;
        }
        return !group.isBlank() && admit(group) ? group : OTHER;
    }

    private boolean admit(String group) {
        if (full.get()) {
            return false;
        }
        synchronized (known) {
            if (known.size() < LIMIT || known.contains(group)) {
                known.add(group);
                return true;
            }
        }
        if (full.compareAndSet(false, true)) {
            log.warn(
                    "There are more than {} groups of locks, such as '{}': further ones are reported as '{}'. Begin names with"
                            + " one of a few words and ':', such as order:42, or set LockOptions.group or a LockGrouping.",
                    LIMIT,
                    group,
                    OTHER);
        }
        return false;
    }
}
