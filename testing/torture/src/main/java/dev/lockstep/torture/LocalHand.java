package dev.lockstep.torture;

import dev.lockstep.LockClient;
import java.util.List;
import java.util.function.Supplier;

/** A worker in this JVM. */
final class LocalHand implements Hand {
    private final Worker worker;
    private final String name;

    /**
     * Makes a worker.
     *
     * @param name the name of its clients, which their threads have in theirs
     */
    LocalHand(String name, Worker.Plan plan, Supplier<LockClient> connect, Observer observer) {
        this.name = name;
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
    public String calls() {
        return worker.calls();
    }

    @Override
    public long stalledNanos() {
        return Stalls.nanos();
    }

    @Override
    public List<String> quit() {
        worker.close();
        return WorkerMain.threadsLeft(".*-" + name + "(-\\d+)?");
    }
}
