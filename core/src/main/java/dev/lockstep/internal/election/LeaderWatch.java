package dev.lockstep.internal.election;

import dev.lockstep.Leader;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks who leads, for the listeners of an election: each third of the ttl, and when somebody knows that something has
 * changed. One look is on its way at a time. Without listeners it does nothing. Safe for use by many threads.
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

    /** Ends when the listeners have heard all that is known so far. */
    private CompletableFuture<Void> told = CompletableFuture.completedFuture(null);

    LeaderWatch(String name, ElectionHost host) {
        this.name = name;
        this.host = host;
        this.periodNanos = Math.max(host.ttl().toNanos() / 3, 1);
    }

    void add(Consumer<Optional<Leader>> listener) {
        Objects.requireNonNull(listener, "listener");
        synchronized (this) {
            listeners.add(listener);
            if (known != null) {
                tell(List.of(listener), known);
            }
        }
        look();
    }

    /** Asks the engine now, or once more when it has answered what it is being asked. */
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
                tell(List.copyOf(listeners), leader);
            }
            again = lookAgain;
            if (!again) {
                timer = host.scheduler().schedule(periodNanos, this::look);
            }
        }
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

    /** Lets listeners know, after all that they were told before. */
    private void tell(List<Consumer<Optional<Leader>>> whom, Optional<Leader> leader) {
        told = told.thenRunAsync(
                () -> whom.forEach(listener -> {
                    try {
                        listener.accept(leader);
                    } catch (RuntimeException | Error e) {
                        log.warn("Election '{}': an onChange listener failed", name, e);
                    }
                }),
                host::execute);
    }

    synchronized void close() {
        closed = true;
        if (timer != null) {
            timer.cancel();
        }
    }
}
