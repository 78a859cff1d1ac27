package dev.lockstep.tck;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.awaitility.pollinterval.IterativePollInterval;
import org.awaitility.pollinterval.PollInterval;

/**
 * The equipment of one test: clients, actors, and ways to wait for conditions. It ends the test by checking that
 * nothing is left of it.
 */
final class Bench {
    /** How long a test waits for what must happen soon. Shorter than the ttl of most clients, so that no ttl helps. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    /** How long something takes at most that does not wait, on a busy machine. */
    static final Duration AT_ONCE = Duration.ofSeconds(5);

    /**
     * Fewer new threads than this are made by a client, whatever the number of its locks and waiters: the pools of the
     * client and of its driver, and the threads of an engine inside this process, one for each connection. A thread for
     * each lock or waiter would be more in every test that counts.
     */
    static final int FEW_THREADS = 100;

    static final Duration FIRST_POLL = Duration.ofMillis(2);

    private static final Duration RAREST_POLL = Duration.ofMillis(25);

    /** Soon at first, and then ever more rarely: each look at an engine costs it and the machine something. */
    static final PollInterval POLL =
            IterativePollInterval.iterative(last -> min(last.multipliedBy(3).dividedBy(2), RAREST_POLL), FIRST_POLL);

    /** The ttl of clients whose tests do not wait for one to pass. */
    static final Duration LONG_TTL = Duration.ofSeconds(30);

    private static final String OBSERVER = "observer";

    private final BackendFixture fixture;
    private final String namespace = "tck-" + UUID.randomUUID();
    private final Map<String, LockClient> named = new HashMap<>();
    private final List<LockClient> clients = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();

    Bench(BackendFixture fixture) {
        this.fixture = fixture;
    }

    BackendFixture fixture() {
        return fixture;
    }

    String namespace() {
        return namespace;
    }

    /** The client of a name, opened with the defaults when it is first asked for. */
    synchronized LockClient client(String name) {
        LockClient known = named.get(name);
        if (known == null) {
            known = open(builder -> builder.clientName(name));
            named.put(name, known);
        }
        return known;
    }

    /**
     * Opens one more client, in one try, as a user would. Its ttl and its request timeout are long, so that it does not take a
     * busy engine for one that is away, and its namespace is the test's, unless the test changes that.
     */
    LockClient open(UnaryOperator<LockClient.Builder> settings) {
        LockClient client = fixture.open(settings.apply(LockClient.builder()
                .namespace(namespace)
                .ttl(LONG_TTL)
                .requestTimeout(PATIENCE)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100))));
        synchronized (this) {
            clients.add(client);
        }
        return client;
    }

    /**
     * Opens one more client, in as many tries as it takes.
     *
     * @param why why one try may fail on a busy machine, and why that is not what the test is about
     */
    LockClient openRetrying(String why, UnaryOperator<LockClient.Builder> settings) {
        long endNanos = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return open(settings);
            } catch (LockUnavailableException e) {
                if (System.nanoTime() - endNanos >= 0) {
                    throw new AssertionError("not connected within " + PATIENCE + ", in many tries: " + why, e);
                }
            }
        }
    }

    /** Closes the clients that were opened so far. */
    void closeClients() {
        List<LockClient> open;
        synchronized (this) {
            open = List.copyOf(clients);
        }
        open.forEach(LockClient::close);
    }

    /** Starts a thread that makes calls for the test. */
    synchronized Actor actor(String name) {
        Actor actor = new Actor(name);
        actors.add(actor);
        return actor;
    }

    /** Starts several threads that make calls for the test. */
    List<Actor> actors(String name, int count) {
        List<Actor> several = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            several.add(actor(name + "-" + i));
        }
        return several;
    }

    /** Waits for a condition, evaluated in the calling thread. */
    static void await(String what, Callable<Boolean> condition) {
        Awaitility.await(what)
                .pollInSameThread()
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(POLL)
                .until(condition);
    }

    /** Waits until an assertion holds, evaluated in the calling thread. */
    static void awaitAsserted(String what, ThrowingRunnable assertion) {
        Awaitility.await(what)
                .pollInSameThread()
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(POLL)
                .untilAsserted(assertion);
    }

    /** Lets a time pass that is itself what the test is about. */
    static void letPass(Duration time) {
        Awaitility.await("a time that the test is about")
                .pollInSameThread()
                .pollDelay(time)
                .atMost(time.plus(PATIENCE))
                .until(() -> true);
    }

    /** How long a call takes. */
    static Duration timed(Call.Step step) throws Exception {
        long start = System.nanoTime();
        step.run();
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** A call that waits for a time at most. */
    @FunctionalInterface
    interface TimedCall {
        void run(Duration wait) throws Exception;
    }

    /**
     * Makes a call that waits for a lock and does not get it. On a busy machine its time may be over before the engine
     * has answered at all. Then nothing is known of the lock, the call rightly says so by a {@link
     * LockUnavailableException}, and it is made again with twice the time.
     */
    static void inVain(Duration wait, TimedCall call) throws Exception {
        Duration time = wait;
        while (true) {
            try {
                call.run(time);
                return;
            } catch (Exception e) {
                boolean unknown =
                        e instanceof LockUnavailableException || e.getCause() instanceof LockUnavailableException;
                time = time.multipliedBy(2);
                if (!unknown || time.compareTo(PATIENCE) > 0) {
                    throw e;
                }
            }
        }
    }

    /**
     * Waits until the engine shows a number of waiters. Where it cannot show them, some time passes instead: the test
     * must be right without it, and is merely more telling with it.
     */
    void awaitWaiters(String lockName, int count) {
        if (!fixture.capabilities().contains(Capability.SHOWS_WAITERS)) {
            letPass(Duration.ofMillis(50));
            return;
        }
        LockClient observer = client(OBSERVER);
        awaitAsserted(
                "the engine shows " + count + " waiter(s) for '" + lockName + "'",
                () -> Assertions.assertThat(observer.inspect(lockName).waiters())
                        .hasSize(count));
    }

    /** Waits until the engine shows no waiter; at once on an engine that never shows waiters. */
    void awaitNoWaiters(String lockName) {
        LockClient observer = client(OBSERVER);
        awaitAsserted(
                "the engine shows no waiter for '" + lockName + "'",
                () -> Assertions.assertThat(observer.inspect(lockName).waiters())
                        .isEmpty());
    }

    /** Asks, as a client of its own, whether a lock can be taken; releases it at once. */
    boolean isFree(String lockName) {
        DistributedLock lock = client(OBSERVER).lock(lockName, LockOptions.defaults());
        boolean taken = lock.tryLock();
        if (taken) {
            lock.unlock();
        }
        return taken;
    }

    /** Waits until a lock can be taken by others. */
    void awaitFree(String lockName) {
        await("'" + lockName + "' is free", () -> isFree(lockName));
    }

    /** Ends the test: threads, what is left at the engine, clients, and the fixture, in this order. */
    void finish() throws InterruptedException {
        List<String> stuck = new ArrayList<>();
        try {
            actors.forEach(Actor::stop);
            heal();
            fixture.assertNothingLeft(openObserver(), fixture.ttl().plus(PATIENCE.dividedBy(2)));
        } finally {
            try {
                clients.forEach(LockClient::close);
                for (Actor actor : actors) {
                    if (!actor.join()) {
                        stuck.add(actor.name());
                    }
                }
            } finally {
                fixture.close();
            }
        }
        Assertions.assertThat(stuck).as("threads that do not end").isEmpty();
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** The observer, which the test may have closed with all clients. */
    private synchronized LockClient openObserver() {
        LockClient known = named.get(OBSERVER);
        if (known != null && known.isClosed()) {
            named.remove(OBSERVER);
        }
        return client(OBSERVER);
    }

    private void heal() {
        if (fixture.capabilities().contains(Capability.BREAK_CONNECTION)
                || fixture.capabilities().contains(Capability.SLOW_DOWN)
                || fixture.capabilities().contains(Capability.LOSE_REPLIES)) {
            clients.forEach(fixture::healConnection);
        }
    }
}
