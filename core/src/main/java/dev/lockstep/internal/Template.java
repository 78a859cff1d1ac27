package dev.lockstep.internal;

import dev.lockstep.Lease;
import dev.lockstep.LockCallback;
import dev.lockstep.LockInfo;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.LockstepException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Takes a lock, runs work, gives the lock back. */
record Template(Client client, LockOptions options, Duration waitAtMost) implements LockTemplate {
    static final Duration DEFAULT_WAIT = Duration.ofSeconds(1);

    @Override
    public LockTemplate waitAtMost(Duration atMost) {
        return new Template(client, options, Objects.requireNonNull(atMost, "atMost"));
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work)
            throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        Optional<Lease> taken = client.lock(name, options).tryAcquire(waitAtMost);
        if (taken.isEmpty()) {
            throw new LockTimeoutException(
                    name, "Lock '" + name + "' was not free within " + waitAtMost + "; " + holders(name) + ".");
        }
        // try-with-resources: what the work throws comes first, what close() throws is added to it.
        try (Lease lease = taken.get()) {
            return work.run(lease);
        }
    }

    private String holders(String name) {
        try {
            LockInfo info = client.inspect(name);
            return info.isFree()
                    ? "it is free by now"
                    : "held by "
                            + info.holders().stream()
                                    .map(entry -> entry.holder().toString())
                                    .collect(Collectors.joining(", "));
        } catch (LockstepException e) {
            return "its holder is unknown: " + e.getMessage();
        }
    }
}
