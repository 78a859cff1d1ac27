package dev.lockstep.cli;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.LeaderElection;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Plays one algorithm with a few clients of this process, and reads from the server after each step. It knows
 * which client must be served next, and fails if another one is. For one thread.
 */
final class Explanation implements AutoCloseable {
    static final String LOCK = "order:42";

    /** A lease's token has the engine's token in its upper bits. */
    static final int TOKEN_SHIFT = 10;

    private static final int PATIENCE_SECONDS = 20;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** How long a client must wait before it counts as a waiter, if the server does not know of waiters. */
    private static final long SHOWS_NOTHING_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Algorithm algorithm;
    private final Function<String, LockClient> connect;
    private final EngineView view;
    private final Labels labels;
    private final Map<String, LockClient> clients = new TreeMap<>();
    private final Map<String, LeaderElection> elections = new TreeMap<>();
    private final List<Ask> holders = new ArrayList<>();
    private final List<Ask> waiters = new ArrayList<>();

    /** The steps that happened, and the server's keys afterwards. */
    record Step(String title, List<String> state) {}

    private record Ask(String client, LockMode mode, CompletableFuture<Lease> lease) {}

    /**
     * Makes one.
     *
     * @param connect opens the client of a name
     * @param view reads from the server
     */
    Explanation(Algorithm algorithm, Function<String, LockClient> connect, EngineView view, Labels labels) {
        this.algorithm = algorithm;
        this.connect = connect;
        this.view = view;
        this.labels = labels;
    }

    List<Step> play() throws Exception {
        List<Step> steps = new ArrayList<>();
        for (String move : algorithm.scene.split(" ")) {
            String client = move.substring(0, 1);
            String title = switch (move.charAt(1)) {
                case 'X', 'L' -> ask(client, LockMode.EXCLUSIVE);
                case 'S', 'P' -> ask(client, LockMode.SHARED);
                case '#' -> askSlot(client);
                default -> giveBack(client);
            };
            steps.add(new Step(title, view.look()));
        }
        closeClients();
        steps.add(
                new Step("All clients close.", algorithm.family == Algorithm.Family.MEMORY ? List.of() : view.look()));
        return steps;
    }

    private String ask(String name, LockMode mode) throws Exception {
        LockClient client = clients.computeIfAbsent(name, connect);
        Ask ask = new Ask(name, mode, algorithm.isElection() ? stand(name, client) : acquire(client, mode));
        waiters.add(ask);
        if (algorithm.isElection()) {
            if (serve().contains(ask)) {
                return name + " stands, and leads " + terms(List.of(ask)) + ".";
            }
            awaitWaiter(client, ask);
            return name + " stands, and waits for its turn.";
        }
        String as = algorithm.scene.indexOf('S') < 0 ? "" : mode == LockMode.SHARED ? " as a reader" : " as a writer";
        if (algorithm.isSemaphore()) {
            if (serve().contains(ask)) {
                return name + " takes a permit " + tokens(List.of(ask)) + ".";
            }
            awaitWaiter(client, ask);
            return name + " asks for a permit, and waits.";
        }
        if (serve().contains(ask)) {
            return name + " takes the lock" + as + " " + tokens(List.of(ask)) + ".";
        }
        awaitWaiter(client, ask);
        return name + " asks for it" + as + ", and waits.";
    }

    private String askSlot(String name) {
        Permit permit = (Permit) holder(name).lease.join();
        return name + " asks for its slot: " + permit.slot() + ".";
    }

    private CompletableFuture<Lease> acquire(LockClient client, LockMode mode) {
        return algorithm.isSemaphore()
                ? client.semaphore(LOCK, Algorithm.PERMITS).acquireAsync().thenApply(permit -> permit)
                : lock(client, mode).acquireAsync();
    }

    /** A candidate whose task lasts until its term ends. */
    private CompletableFuture<Lease> stand(String name, LockClient client) {
        CompletableFuture<Lease> term = new CompletableFuture<>();
        elections.put(name, client.election(LOCK, name + ":8080", won -> {
            term.complete(won);
            new CountDownLatch(1).await();
        }));
        return term;
    }

    private DistributedLock lock(LockClient client, LockMode mode) {
        LockOptions options = algorithm.isFair() ? LockOptions.defaults().fair() : LockOptions.defaults();
        if (mode == LockMode.EXCLUSIVE) {
            return client.lock(LOCK, options);
        }
        DistributedReadWriteLock both = client.readWriteLock(LOCK, options);
        return both.readLock();
    }

    private String giveBack(String name) throws Exception {
        Ask ask = holder(name);
        holders.remove(ask);
        LeaderElection election = elections.remove(name);
        if (election == null) {
            ask.lease.join().close();
        } else {
            election.close();
        }
        List<Ask> served = serve();
        String who = served.stream().map(Ask::client).collect(Collectors.joining(" and "));
        if (algorithm.isElection()) {
            return name + " closes" + (served.isEmpty() ? "." : ": " + who + " leads " + terms(served) + ".");
        }
        if (algorithm.isSemaphore()) {
            return name + " releases its permit"
                    + (served.isEmpty() ? "." : ": " + who + " has it " + tokens(served) + ".");
        }
        return name + " releases it" + (served.isEmpty() ? "." : ": " + who + " has it " + tokens(served) + ".");
    }

    private Ask holder(String name) {
        return holders.stream()
                .filter(each -> each.client.equals(name))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Waits until the clients whose turn it is have the lock: the first, and if that is a reader, all readers behind
     * it.
     */
    private List<Ask> serve() throws InterruptedException {
        List<Ask> served = new ArrayList<>();
        while (!waiters.isEmpty() && fits(waiters.get(0))) {
            Ask next = waiters.remove(0);
            await(next);
            holders.add(next);
            served.add(next);
        }
        return served;
    }

    private boolean fits(Ask ask) {
        if (algorithm.isSemaphore()) {
            return holders.size() < Algorithm.PERMITS;
        }
        return holders.isEmpty()
                || (ask.mode == LockMode.SHARED && holders.stream().allMatch(holder -> holder.mode == LockMode.SHARED));
    }

    private void await(Ask ask) throws InterruptedException {
        try {
            labels.token(ask.lease.get(PATIENCE_SECONDS, TimeUnit.SECONDS).token() >> TOKEN_SHIFT);
        } catch (TimeoutException e) {
            throw new Refusal(ExitCodes.FAILED, algorithm.label() + ": " + ask.client + " should have the lock by now");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        }
    }

    private String terms(List<Ask> served) {
        return tokens(served).replace("token", "term");
    }

    private String tokens(List<Ask> served) {
        String names = served.stream()
                .map(ask -> labels.token(ask.lease.join().token() >> TOKEN_SHIFT))
                .collect(Collectors.joining(" and "));
        return "(token " + names + ")";
    }

    /** Waits until the server knows of all waiters; if it does not know of waiters, waits for a moment. */
    private void awaitWaiter(LockClient client, Ask ask) {
        long start = System.nanoTime();
        long longest = algorithm.isPlain() ? SHOWS_NOTHING_NANOS : TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (algorithm.isPlain() || client.inspect(LOCK).waiters().size() < waiters.size()) {
            if (System.nanoTime() - start > longest) {
                break;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        if (ask.lease.isDone()) {
            throw new Refusal(ExitCodes.FAILED, algorithm.label() + ": " + ask.client + " should wait, and does not");
        }
    }

    private void closeClients() {
        clients.values().forEach(LockClient::close);
        clients.clear();
    }

    @Override
    public void close() throws Exception {
        closeClients();
        view.close();
    }
}
