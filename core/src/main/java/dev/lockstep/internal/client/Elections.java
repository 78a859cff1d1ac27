package dev.lockstep.internal.client;

import dev.lockstep.DistributedLock;
import dev.lockstep.Leader;
import dev.lockstep.LeaderElection;
import dev.lockstep.LeaderTask;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.election.Election;
import dev.lockstep.internal.election.ElectionHost;
import dev.lockstep.internal.election.Payloads;
import dev.lockstep.internal.election.TermRun;
import dev.lockstep.internal.lock.HoldLease;
import dev.lockstep.internal.turnstile.Tokens;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The candidates of a client: one for each name. Safe for use by many threads. */
public final class Elections {
    private final Client client;
    private final TurnstileContext context;
    private final Duration ttl;
    private final Backoff backoff;
    private final Consumer<TermRun> runner;

    /** The names for which a candidate stands, leads, or was closed while its task still runs. */
    private final Set<String> names = ConcurrentHashMap.newKeySet();

    /**
     * Makes it.
     *
     * @param runner runs the tasks of terms
     */
    public Elections(Client client, TurnstileContext context, Duration ttl, Backoff backoff, Consumer<TermRun> runner) {
        this.client = client;
        this.context = context;
        this.ttl = ttl;
        this.backoff = backoff;
        this.runner = runner;
    }

    /** Runs the task of a term in a thread of its own, which does not keep the JVM alive. */
    static void runInThread(TermRun run) {
        Thread thread = new Thread(run, "lockstep-election-" + run.term().lockName());
        thread.setDaemon(true);
        thread.start();
    }

    public LeaderElection open(String name, String payload, LeaderTask task) {
        Objects.requireNonNull(task, "task");
        Names.requireLockName(name);
        Payloads.require(payload);
        context.ensureOpen();
        if (client.hasFallback()) {
            throw new LockConfigurationException(
                    name,
                    "Election '" + name
                            + "': this client has a fallback, in which there could be a second leader. Use a"
                            + " client without one for elections.");
        }
        if (!names.add(name)) {
            throw new IllegalStateException("Election '" + name + "': client '" + client.name()
                    + "' has a candidate already. Close it, and let its task return, before the next one stands.");
        }
        Election election = new Election(name, task, new Host(name, payload), () -> leader(name));
        election.stand();
        return election;
    }

    Optional<Leader> leader(String name) {
        return Payloads.leader(client.inspect(name));
    }

    /** The client as one candidate sees it. */
    private final class Host implements ElectionHost {
        private final String name;
        private final String threadName;

        Host(String name, String payload) {
            this.name = name;
            this.threadName = Payloads.toThreadName(payload);
        }

        @Override
        public DistributedLock lock() {
            context.ensureOpen();
            LockOptions options = LockOptions.defaults();
            return client.lockAs(threadName, name, context.traits().fair() ? options.fair() : options);
        }

        @Override
        public CompletionStage<Optional<Leader>> leader() {
            return context.backend().inspect(name).thenApply(Tokens::scaled).thenApply(Payloads::leader);
        }

        @Override
        public LockBackend.Watch watchLeader(Runnable changed) {
            return context.backend().watch(name, changed);
        }

        @Override
        public void onLoss(Lease lease, Runnable code) {
            ((HoldLease) lease).onLoss(code);
        }

        @Override
        public void lead(TermRun run) {
            runner.accept(run);
        }

        @Override
        public void execute(Runnable code) {
            context.execute(code);
        }

        @Override
        public Scheduler scheduler() {
            return context.scheduler();
        }

        @Override
        public Backoff backoff() {
            return backoff;
        }

        @Override
        public Duration ttl() {
            return ttl;
        }

        @Override
        public Duration requestTimeout() {
            return context.requestTimeout();
        }

        @Override
        public String engine() {
            return context.engine();
        }

        @Override
        public boolean isClosed() {
            return client.isClosed();
        }

        @Override
        public void ended() {
            names.remove(name);
        }
    }
}
