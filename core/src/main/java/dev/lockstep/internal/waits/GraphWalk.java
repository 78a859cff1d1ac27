package dev.lockstep.internal.waits;

import dev.lockstep.LockInfo;
import dev.lockstep.WaitGraph;
import dev.lockstep.spi.AdminBackend;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/**
 * Reads the part of the wait-for graph that some locks lead to: their holders, what these wait for, the holders of that, and so
 * on. One request for each lock, those of one distance at once. Used once, by one thread after the other.
 */
final class GraphWalk {
    /** A look must end. Chains are short: a walk that begins at half as many locks at most has room to follow them. */
    static final int MOST_LOCKS = 256;

    private final AdminBackend engine;
    private final UnaryOperator<LockInfo> complete;
    private final Map<String, LockInfo> read = new LinkedHashMap<>();

    /**
     * Makes a walk.
     *
     * @param complete adds to what the engine says of a lock
     */
    GraphWalk(AdminBackend engine, UnaryOperator<LockInfo> complete) {
        this.engine = engine;
        this.complete = complete;
    }

    /** Walks from some locks on. Fails if a request does. */
    CompletableFuture<WaitGraph> from(Collection<String> names) {
        Map<String, CompletableFuture<LockInfo>> answers = new LinkedHashMap<>();
        for (String name : names) {
            if (read.size() + answers.size() < MOST_LOCKS) {
                answers.put(name, ask(name).toCompletableFuture());
            }
        }
        return CompletableFuture.allOf(answers.values().toArray(CompletableFuture[]::new))
                .thenCompose(done -> {
                    answers.forEach((name, answer) -> read.put(name, complete.apply(answer.join())));
                    Set<String> next = targets(answers.keySet());
                    return next.isEmpty() || read.size() >= MOST_LOCKS
                            ? CompletableFuture.completedFuture(WaitGraph.of(read.values()))
                            : from(next);
                });
    }

    private CompletionStage<LockInfo> ask(String name) {
        try {
            return engine.inspect(name);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The locks that holders of some locks wait for, and that were not read yet. */
    private Set<String> targets(Collection<String> names) {
        Set<String> found = new LinkedHashSet<>();
        for (String name : names) {
            LockInfo lock = read.get(name);
            if (lock != null) {
                lock.holders().forEach(holder -> holder.waitsFor().ifPresent(wait -> found.add(wait.lock())));
            }
        }
        found.removeAll(read.keySet());
        return found;
    }
}
