package dev.lockstep.torture;

import dev.lockstep.LossReason;
import dev.lockstep.spi.BackendFactory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The state that the buggy backends of one run share. Thread-safe. */
final class BugState {
    private static final int GRANTS_BEFORE_RESET = 200;

    private final Map<String, Integer> silenced = new ConcurrentHashMap<>();
    private final AtomicInteger turns = new AtomicInteger();
    private final AtomicInteger grants = new AtomicInteger();
    private final AtomicLong tokenOffset = new AtomicLong();

    /** Plants a bug into all that a factory makes. */
    static BackendFactory plant(PlantedBug bug, BackendFactory sound, BugState state) {
        return context -> new BuggyBackend(bug, sound.open(context), context, state);
    }

    /** Whether it is the turn of a bug that shows once in a while. */
    boolean isTurn(int odds) {
        return turns.incrementAndGet() % odds == 0;
    }

    /** The token of a grant, as it would be if the counter had begun again. */
    long afterReset(long token) {
        if (grants.incrementAndGet() == GRANTS_BEFORE_RESET) {
            tokenOffset.set(token - 1);
        }
        return Math.max(1, token - tokenOffset.get());
    }

    /** The holder of a lock is not notified of its loss, while something runs. */
    void silence(String name, boolean on) {
        silenced.merge(name, on ? 1 : -1, Integer::sum);
    }

    /** Whether a backend with a bug does not pass on that a hold was lost. */
    boolean keepsToItself(PlantedBug bug, String name, LossReason reason) {
        return switch (bug) {
            case NO_DEADLINE, LATE_DEADLINE -> reason == LossReason.EXPIRED;
            case DOUBLE_GRANT_AFTER_RECONNECT -> reason == LossReason.SESSION_ENDED || reason == LossReason.EXPIRED;
            case REVOCATION_NOT_TOLD -> reason == LossReason.REVOKED;
            case RELEASE_WITHOUT_OWNER_CHECK -> reason == LossReason.REVOKED && silenced.getOrDefault(name, 0) > 0;
            default -> false;
        };
    }
}
