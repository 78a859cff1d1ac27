package dev.lockstep.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Leader;
import dev.lockstep.LeaderElection;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.Undeclared;
import dev.lockstep.logs.ThreadLogs;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Users' code may take its time, whatever the executor: it runs under no mutex, and after what others wait for. */
class UsersCodeTest {
    /** Executors that run tasks in the calling thread, or refuse them. */
    enum Kind {
        DIRECT,
        CALLER_RUNS,
        REJECTING,
        BROKEN;

        Executor make() {
            return switch (this) {
                case DIRECT -> Runnable::run;
                case CALLER_RUNS -> {
                    ThreadPoolExecutor full = new ThreadPoolExecutor(
                            1,
                            1,
                            1,
                            TimeUnit.SECONDS,
                            new SynchronousQueue<>(),
                            task -> {
                                Thread thread = new Thread(task, "only");
                                thread.setDaemon(true);
                                return thread;
                            },
                            new ThreadPoolExecutor.CallerRunsPolicy());
                    full.execute(() -> {
                        try {
                            Thread.sleep(60_000);
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    });
                    yield full;
                }
                case REJECTING ->
                    task -> {
                        throw new RejectedExecutionException("full");
                    };
                case BROKEN ->
                    task -> {
                        throw new InternalError("unable to create native thread, as the test wants it");
                    };
            };
        }
    }

    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch blocked = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @AfterEach
    void end() throws InterruptedException {
        goOn.countDown();
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        }
    }

    private CompletableFuture<Void> inThread(Runnable task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                task.run();
                done.complete(null);
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return done;
    }

    private void block() {
        blocked.countDown();
        try {
            goOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void theResultOfWorkIsReturned(Kind kind) throws Exception {
        CountDownLatch heard = new CountDownLatch(1);
        LockListener listener = new LockListener() {
            @Override
            public void onReleased(Released event) {
                heard.countDown();
            }
        };
        try (LockClient client = LockClient.builder()
                .url("memory:")
                .executor(kind.make())
                .listener(listener)
                .connect()) {
            assertThat(client.template().<String, RuntimeException>execute("a", lease -> "sold"))
                    .isEqualTo("sold");
            assertThat(heard.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aBlockedListenerKeepsNoCallerFromTheLock(Kind kind) throws Exception {
        LockListener listener = new LockListener() {
            private final AtomicInteger releases = new AtomicInteger();

            @Override
            public void onReleased(Released event) {
                if (releases.incrementAndGet() == 1) {
                    block();
                }
            }
        };
        try (LockClient client = LockClient.builder()
                .url("memory:")
                .executor(kind.make())
                .listener(listener)
                .connect()) {
            DistributedLock lock = client.lock("a");
            CompletableFuture<Void> first = inThread(() -> {
                lock.lock();
                lock.unlock();
            });
            assertThat(blocked.await(20, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Void> second = inThread(() -> {
                assertThat(lock.tryLock()).isTrue();
                lock.unlock();
            });
            try {
                second.get(20, TimeUnit.SECONDS);
                if (kind == Kind.REJECTING || kind == Kind.BROKEN) {
                    first.get(20, TimeUnit.SECONDS); // the listener has a thread of the client's own
                } else {
                    assertThat(first).isNotDone();
                }
            } finally {
                goOn.countDown();
            }
            first.get(20, TimeUnit.SECONDS);
        }
    }

    /** Such a thread may be the one that the next answer needs. */
    @Test
    void whatTheExecutorRefusesDoesNotRunInTheThreadThatBringsAnAnswer() throws Exception {
        TurnstileFixture fixture = new TurnstileFixture();
        Client client = new Client(
                context -> fixture.engine,
                TurnstileFixture.settings(List.of()),
                null,
                fixture.time,
                Kind.REJECTING.make(),
                "refused",
                "id",
                () -> {});
        CompletableFuture<Thread> completed = new CompletableFuture<>();
        client.lock("a", LockOptions.defaults())
                .acquireAsync()
                .thenAccept(lease -> completed.complete(Thread.currentThread()));
        fixture.engine.claim(0).grant();
        assertThat(completed.get(20, TimeUnit.SECONDS).getName()).startsWith("lockstep-callback-refused");
    }

    @Test
    void aBlockedLossActionKeepsNoCallerFromTheLock() throws Exception {
        TurnstileFixture fixture = new TurnstileFixture();
        ScriptedBackend engine = fixture.engine;
        CompletableFuture<Lease> holding = fixture.lock.acquireAsync();
        engine.claim(0).grant();
        TurnstileFixture.get(holding).onLost(reason -> block());
        CompletableFuture<Void> losing = inThread(() -> engine.grant(0).signalLost(LossReason.REVOKED));
        assertThat(blocked.await(20, TimeUnit.SECONDS)).isTrue();
        engine.answersAtOnce = true;
        inThread(() -> assertThat(fixture.lock.tryLock()).isTrue()).get(20, TimeUnit.SECONDS);
        assertThat(losing).isNotDone();
        goOn.countDown();
        losing.get(20, TimeUnit.SECONDS);
    }

    @Test
    void anExceptionOfALossActionIsLoggedAndKeepsNoOtherFromRunning() {
        TurnstileFixture fixture = new TurnstileFixture();
        CompletableFuture<Lease> holding = fixture.lock.acquireAsync();
        fixture.engine.claim(0).grant();
        Lease lease = TurnstileFixture.get(holding);
        List<LossReason> heard = new ArrayList<>();
        lease.onLost(reason -> Undeclared.fail(new IOException("on purpose")));
        lease.onLost(heard::add);
        List<String> logged = new ArrayList<>();
        ThreadLogs.onWarning(logged::add);
        try {
            fixture.engine.grant(0).signalLost(LossReason.REVOKED);
        } finally {
            ThreadLogs.onWarning(null);
        }
        assertThat(heard).containsExactly(LossReason.REVOKED);
        assertThat(logged).anyMatch(line -> line.contains("an onLost action failed"));
    }

    @Test
    void anExceptionOfAnElectionListenerKeepsNoOtherFromNotification() {
        try (LockClient client = LockClient.connect("memory:");
                LeaderElection election = client.election("e", "", term -> {})) {
            List<Optional<Leader>> heard = new CopyOnWriteArrayList<>();
            election.onChange(leader -> Undeclared.fail(new IOException("on purpose")));
            election.onChange(heard::add);
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> heard.size() > 1);
        }
    }

    @Test
    void eventsThatAreTooManyForListenersAreDropped() {
        TurnstileFixture fixture = new TurnstileFixture();
        fixture.engine.answersAtOnce = true;
        List<Runnable> tasks = new ArrayList<>();
        AtomicInteger heard = new AtomicInteger();
        LockListener listener = new LockListener() {
            @Override
            public void onAcquired(Acquired event) {
                heard.incrementAndGet();
            }

            @Override
            public void onReleased(Released event) {
                heard.incrementAndGet();
            }
        };
        Client client = new Client(
                context -> fixture.engine,
                TurnstileFixture.settings(List.of(listener)),
                null,
                fixture.time,
                tasks::add,
                "slow",
                "id",
                () -> {});
        DistributedLock lock = client.lock("a", LockOptions.defaults());
        for (int i = 0; i < 6_000; i++) {
            lock.lock();
            lock.unlock();
        }
        assertThat(tasks).hasSize(1);
        tasks.remove(0).run();
        assertThat(heard).hasValue(10_000);
        lock.lock();
        lock.unlock();
        tasks.remove(0).run();
        assertThat(heard).hasValue(10_002);
    }
}
