package dev.lockstep.internal.client;

import dev.lockstep.ClientSnapshot;
import dev.lockstep.ClientSnapshot.Use;
import dev.lockstep.LockMode;
import dev.lockstep.internal.semaphore.Semaphores;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.Turnstiles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Reads what a client holds and waits for. */
final class Snapshots {
    private Snapshots() {}

    static ClientSnapshot of(Turnstiles turnstiles, Semaphores semaphores, long now) {
        List<Use> holds = new ArrayList<>();
        List<Use> waiters = new ArrayList<>();
        for (Turnstile turnstile : turnstiles.all()) {
            String name = turnstile.name();
            turnstile
                    .holds()
                    .forEach(hold -> holds.add(InUse.of(
                            name, hold.mode, hold.owner, now - hold.sinceNanos, hold.handOffs(), hold.drawnToken())));
            turnstile
                    .waiters()
                    .forEach(waiter -> waiters.add(
                            InUse.of(name, waiter.mode(), waiter.thread(), now - waiter.startNanos(), 0, 0)));
        }
        semaphores.addTo(holds, waiters, now);
        Comparator<Use> byName = Comparator.comparing(Use::lockName); // stable, so the order of the queues stays
        holds.sort(byName);
        waiters.sort(byName);
        return ClientSnapshot.of(holds, waiters);
    }

    private record InUse(
            String lockName,
            LockMode mode,
            OptionalLong threadId,
            Optional<String> threadName,
            Duration duration,
            int handOffs,
            OptionalLong token)
            implements Use {
        static Use of(String name, LockMode mode, @Nullable Thread thread, long nanos, int handOffs, long token) {
            return new InUse(
                    name,
                    mode,
                    thread == null ? OptionalLong.empty() : OptionalLong.of(thread.getId()),
                    thread == null ? Optional.empty() : Optional.of(thread.getName()),
                    Duration.ofNanos(Math.max(nanos, 0)),
                    handOffs,
                    token == 0 ? OptionalLong.empty() : OptionalLong.of(token));
        }
    }
}
