package dev.lockstep.torture;

import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** A worker in this JVM. */
final class LocalHand implements Hand {
    private final Worker worker;

    LocalHand(Worker.Plan plan, Supplier<LockClient> connect, Observer observer) {
        worker = new Worker(plan, connect, () -> observer.witness(plan.client()));
    }

    @Override
    public int client() {
        return worker.plan().client();
    }

    @Override
    public void go(Worker.Pace pace) {
        worker.go(pace);
    }

    @Override
    public String rest(Duration patience) {
        return worker.rest(patience);
    }

    @Override
    public List<String> quit() {
        worker.close();
        return List.of();
    }
}
