package dev.lockstep.internal.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The one clock, the one source of chance, and the events still to come. Single-threaded. */
final class World {
    static final long MILLI = 1_000_000;

    /** Far more than a history needs. */
    /** Four times what the longest needs: one in which an engine refuses for seconds, and all that is refused is sent again. */
    private static final int MAX_STEPS = 200_000;

    final SplittableRandom random;

    /** Whether the trace is kept as text; the hash always is. */
    private final boolean recording;

    private final List<String> text = new ArrayList<>();
    private Event[] heap = new Event[256];
    private int size;
    private long order;
    private int steps;
    private long now;
    private long hash = 17;
    private @Nullable String violation;

    World(long seed, boolean recording) {
        this.random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + 1);
        this.recording = recording;
    }

    /** Something that will happen, unless it is cancelled before. */
    static final class Event {
        private long at;
        private final long order;
        private final @Nullable Node owner;
        private @Nullable Runnable action;

        Event(long at, long order, @Nullable Node owner, Runnable action) {
            this.at = at;
            this.order = order;
            this.owner = owner;
            this.action = action;
        }

        void cancel() {
            action = null;
        }
    }

    long now() {
        return now;
    }

    /** How many things have happened, one after the other. */
    long steps() {
        return steps;
    }

    /** The following steps happen after the previous ones, though in one event. */
    void next() {
        steps++;
    }

    /** Whether a chance of so many in a hundred comes true. */
    boolean chance(int percent) {
        return percent > 0 && random.nextInt(100) < percent;
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    /** A time below a bound. */
    long time(long bound) {
        return bound <= 0 ? 0 : random.nextLong(bound);
    }

    /**
     * Lets something happen later.
     *
     * @param owner the node on which it happens: while that is paused, it does not
     */
    Event after(long delay, @Nullable Node owner, Runnable action) {
        Event event = new Event(now + Math.max(delay, 0), order++, owner, action);
        push(event);
        return event;
    }

    /** Runs events until none is left, one is later than a time, or a rule was broken. */
    void runUntil(long end) {
        while (violation == null && size > 0 && heap[0].at <= end) {
            step();
        }
        if (violation == null) {
            now = Math.max(now, end);
        }
    }

    /** Runs the next event. False if there is none. */
    boolean step() {
        while (size > 0) {
            Event event = pop();
            Runnable action = event.action;
            if (action == null) {
                continue;
            }
            now = event.at;
            Node owner = event.owner;
            if (owner != null && owner.isPaused()) {
                owner.late.add(event);
                continue;
            }
            event.action = null;
            if (++steps > MAX_STEPS) {
                violate("the history does not end");
                return false;
            }
            action.run();
            return true;
        }
        return false;
    }

    /** How many events are still to come. */
    int pending() {
        int count = 0;
        for (int i = 0; i < size; i++) {
            count += heap[i].action != null ? 1 : 0;
        }
        return count;
    }

    // ---------------------------------------------------------------- the trace

    void trace(String what, int node, long first, long second) {
        hash = ((hash * 31 + what.hashCode()) * 31 + node) * 31 + now;
        hash = (hash * 31 + first) * 31 + second;
        if (recording) {
            text.add(String.format("%10.3f ms  node %d  %-16s %d %d", (double) now / MILLI, node, what, first, second));
        }
    }

    long hash() {
        return hash;
    }

    /** The last lines of the trace. */
    String tail(int lines) {
        return String.join("\n", text.subList(Math.max(0, text.size() - lines), text.size()));
    }

    /** A rule was broken. Only the first counts. */
    void violate(String what) {
        if (violation == null) {
            violation = what;
            trace("VIOLATION " + what, -1, 0, 0);
        }
    }

    @Nullable
    String violation() {
        return violation;
    }

    // ---------------------------------------------------------------- the heap

    /** Lets what a paused node missed happen, in its order and soon, but not before everything else. */
    void catchUp(List<Event> late) {
        long at = now + time(MILLI / 2);
        for (Event event : late) {
            event.at = at;
            push(event);
        }
        late.clear();
    }

    private static boolean before(Event one, Event other) {
        return one.at < other.at || one.at == other.at && one.order < other.order;
    }

    private void push(Event event) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        int index = size++;
        while (index > 0) {
            int parent = (index - 1) >>> 1;
            if (!before(event, heap[parent])) {
                break;
            }
            heap[index] = heap[parent];
            index = parent;
        }
        heap[index] = event;
    }

    private Event pop() {
        Event top = heap[0];
        Event last = heap[--size];
        int index = 0;
        while (true) {
            int child = 2 * index + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && before(heap[child + 1], heap[child])) {
                child++;
            }
            if (!before(heap[child], last)) {
                break;
            }
            heap[index] = heap[child];
            index = child;
        }
        heap[index] = last;
        return top;
    }
}
