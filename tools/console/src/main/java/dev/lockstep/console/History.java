package dev.lockstep.console;

import dev.lockstep.console.Blockers.Blocker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Samples of the last hour, without most of their locks. Thread-safe. */
final class History {
    static final Duration SPACING = Duration.ofSeconds(5);
    static final int MOST = 720;
    private static final int MOST_BLOCKERS = 10;

    private final Deque<Moment> moments = new ArrayDeque<>();

    /**
     * What is kept of a sample.
     *
     * @param sample the sample, with the worst blockers alone and without locks
     * @param held how many locks were held
     * @param waiting how many entries waited
     * @param deadlocks how many deadlocks there were
     */
    record Moment(Sample sample, int held, int waiting, long deadlocks) {
        Instant at() {
            return sample.at();
        }
    }

    synchronized void add(Sample sample) {
        Moment last = moments.peekLast();
        boolean news = last != null
                && (last.sample().engine().isReachable() != sample.engine().isReachable()
                        || last.deadlocks() != sample.deadlocks());
        if (last != null && !news && Duration.between(last.at(), sample.at()).compareTo(SPACING) < 0) {
            return;
        }
        List<Blocker> blockers = sample.blockers();
        Sample kept = new Sample(
                sample.version(),
                sample.at(),
                sample.engine(),
                sample.cost(),
                sample.namespaces(),
                List.of(),
                List.copyOf(blockers.subList(0, Math.min(MOST_BLOCKERS, blockers.size()))),
                sample.confirmed());
        boolean reachable = sample.engine().isReachable();
        moments.addLast(
                new Moment(kept, reachable ? sample.held() : 0, reachable ? sample.waiting() : 0, sample.deadlocks()));
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
