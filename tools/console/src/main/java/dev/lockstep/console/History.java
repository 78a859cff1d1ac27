package dev.lockstep.console;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The samples of the last hour. Its size is bounded, however many locks and waiters there are. Thread-safe. */
final class History {
    static final Duration SPACING = Duration.ofSeconds(5);
    static final int MOST = 720;

    private final Deque<Moment> moments = new ArrayDeque<>();

    /**
     * The part of a sample that is kept.
     *
     * @param at when it was taken, in milliseconds, as the page asks for it
     * @param reachable whether the engine answered
     * @param held how many locks were held
     * @param waiting how many entries waited
     * @param deadlocks how many deadlocks there were
     * @param shown what the page shows of it: text takes less room than maps
     */
    record Moment(Instant at, boolean reachable, int held, int waiting, long deadlocks, Json.Written shown) {}

    synchronized void add(Sample sample) {
        Moment last = moments.peekLast();
        boolean reachable = sample.engine().isReachable();
        boolean news = last != null && (last.reachable() != reachable || last.deadlocks() != sample.deadlocks());
        if (last != null && !news && Duration.between(last.at(), sample.at()).compareTo(SPACING) < 0) {
            return;
        }
        moments.addLast(new Moment(
                sample.at().truncatedTo(ChronoUnit.MILLIS),
                reachable,
                reachable ? sample.held() : 0,
                reachable ? sample.waiting() : 0,
                sample.deadlocks(),
                new Json.Written(Json.write(Views.ofHistory(sample)))));
        if (moments.size() > MOST) {
            moments.removeFirst();
        }
    }

    synchronized List<Moment> moments() {
        return new ArrayList<>(moments);
    }

    /** The last moment that is not after an instant, or else the first. */
    synchronized @Nullable Moment at(Instant instant) {
        Moment found = moments.peekFirst();
        for (Moment moment : moments) {
            if (moment.at().isAfter(instant)) {
                break;
            }
            found = moment;
        }
        return found;
    }
}
