package dev.lockstep.internal.election;

import dev.lockstep.Leader;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks who leads, for the listeners of an election: when the engine or this candidate says that something has
 * changed, and each third of the ttl, since a notification may be lost and not every engine sends one. One request is
 * pending at a time. Without listeners it does nothing. Safe for use by many threads.
 */
final class LeaderWatch {
    private static final Logger log = LoggerFactory.getLogger(LeaderWatch.class);

    private final String name;
    private final ElectionHost host;
    private final long periodNanos;

    // All guarded by this.
    private final List<Consumer<Optional<Leader>>> listeners = new ArrayList<>();
    private @Nullable Optional<Leader> known;
    private boolean looking;
    private boolean lookAgain;
    private boolean closed;
    private Scheduler.@Nullable Timer timer;
    private LockBackend.@Nullable Watch pushes;

    /** The changes that listeners still have to be notified of, in order. */
    private final Deque<Runnable> news = new ArrayDeque<>();

    /** Whether the executor notifies them of that. */
    private boolean telling;

    LeaderWatch(String name, ElectionHost host) {
        this.name = name;
        this.host = host;
        this.periodNanos = Math.max(host.ttl().toNanos() / 3, 1);
    }

    void add(Consumer<Optional<Leader>> listener) {
        boolean first;
        synchronized (this) {
            first = listeners.isEmpty() && !closed;
            listeners.add(listener);
            if (known != null) {
                news.add(newsFor(List.of(listener), known));
            }
        }
        tell();
        if (first) {
            beginPushes();
        }
        look();
    }

    private void beginPushes() {
        LockBackend.Watch begun = host.watchLeader(this::look);
        boolean late;
        synchronized (this) {
            late = closed;
            pushes = begun;
        }
        if (late) {
            begun.close();
        }
    }

    /** Asks the engine now, or again after the current request is answered. */
    void look() {
        synchronized (this) {
            if (closed || listeners.isEmpty()) {
                return;
            }
            if (looking) {
                lookAgain = true;
                return;
            }
            looking = true;
            lookAgain = false;
            if (timer != null) {
                timer.cancel();
            }
        }
        CompletionStage<Optional<Leader>> answer;
        try {
            answer = host.leader();
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        answer.whenComplete(this::seen);
    }

    private void seen(@Nullable Optional<Leader> leader, @Nullable Throwable error) {
        boolean again;
        synchronized (this) {
            looking = false;
            if (closed) {
                return;
            }
            if (leader != null && !isSame(leader, known)) {
                known = leader;
                news.add(newsFor(List.copyOf(listeners), leader));
            }
            again = lookAgain;
            if (!again) {
                timer = host.scheduler().schedule(periodNanos, this::look);
            }
        }
        tell();
        if (error != null) {
            log.debug("Election '{}': it is not known who leads", name, error);
        }
        if (again) {
            look();
        }
    }

    private static boolean isSame(Optional<Leader> one, @Nullable Optional<Leader> other) {
        return other != null && one.map(Leader::term).equals(other.map(Leader::term));
    }

    private Runnable newsFor(List<Consumer<Optional<Leader>>> whom, Optional<Leader> leader) {
        return () -> whom.forEach(listener -> {
            try {
                listener.accept(leader);
            } catch (Throwable e) {
                log.warn("Election '{}': an onChange listener failed", name, e);
            }
        });
    }

    /** Notifies listeners on the executor, in order. Not under the mutex: the executor may run them in this thread. */
    private void tell() {
        synchronized (this) {
            if (telling || news.isEmpty()) {
                return;
            }
            telling = true;
        }
        host.execute(() -> {
            for (Runnable next = nextNews(); next != null; next = nextNews()) {
                next.run();
            }
        });
    }

    private synchronized @Nullable Runnable nextNews() {
        Runnable next = news.poll();
        telling = next != null;
        return next;
    }

    void close() {
        LockBackend.Watch ended;
        synchronized (this) {
            closed = true;
            ended = pushes;
            if (timer != null) {
                timer.cancel();
            }
        }
        if (ended != null) {
            ended.close();
        }
    }
}
