package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Readers hold a lock together, a writer alone; a writer that waits is not starved. */
@Requires(Capability.SHARED)
abstract class ReadWriteContract extends ContractGroup {
    ReadWriteContract(LockContract contract) {
        super(contract);
    }

    private DistributedReadWriteLock locks() {
        return client().readWriteLock(NAME);
    }

    private DistributedReadWriteLock rivalLocks() {
        return rival().readWriteLock(NAME);
    }

    @Test
    void thePlainLockIsTheWriteLock() throws Exception {
        assertThat(locks().name()).isEqualTo(NAME);
        lock().lock();
        assertThat(locks().writeLock().isHeldByCurrentThread()).isTrue();
        locks().writeLock().lock();
        assertThat(lock().holdCount()).isEqualTo(2);
        assertThat(rivalLocks().readLock().tryLock()).isFalse();
        assertThat(actor("reader").call(() -> locks().readLock().tryLock())).isFalse();
        lock().unlock();
        locks().writeLock().unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void readersShareOverThreadsAndClients() throws Exception {
        Actor second = actor("second");
        Actor third = actor("third");
        locks().readLock().lock();
        second.does(() -> assertThat(locks().readLock().tryLock()).isTrue());
        third.does(() -> assertThat(rivalLocks().readLock().tryLock()).isTrue());
        assertThat(locks().readLock().isHeldByCurrentThread()).isTrue();
        assertThat(locks().writeLock().isHeldByCurrentThread()).isFalse();
        locks().readLock().unlock();
        second.does(() -> locks().readLock().unlock());
        third.does(() -> rivalLocks().readLock().unlock());
    }

    /** Where the engine does not report that others wait, readers share a grant for some milliseconds only. */
    @Test
    @Requires(Capability.TELLS_WANTED)
    void readersOfOneClientShareOneGrant() throws Exception {
        List<Actor> readers = bench().actors("reader", 5);
        for (Actor reader : readers) {
            reader.does(() -> locks().readLock().lock());
        }
        assertThat(rival().inspect(NAME).holders()).hasSize(1).allMatch(holder -> holder.mode() == LockMode.SHARED);
        for (Actor reader : readers) {
            assertThat(bench().isFree(NAME)).isFalse();
            reader.does(() -> locks().readLock().unlock());
        }
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aWriterExcludesReaders() throws Exception {
        locks().writeLock().lock();
        assertThat(rivalLocks().readLock().tryLock()).isFalse();
        assertThat(actor("reader").call(() -> locks().readLock().tryLock())).isFalse();
        locks().writeLock().unlock();
        assertThat(rivalLocks().readLock().tryLock()).isTrue();
        rivalLocks().readLock().unlock();
    }

    @Test
    void readersExcludeAWriter() throws Exception {
        locks().readLock().lock();
        assertThat(rivalLocks().writeLock().tryLock()).isFalse();
        assertThat(actor("writer").call(() -> locks().writeLock().tryLock())).isFalse();
        locks().readLock().unlock();
        assertThat(rivalLocks().writeLock().tryLock()).isTrue();
        rivalLocks().writeLock().unlock();
    }

    @Test
    void aWriterOfAnotherClientWaitsForTheLastReader() throws Exception {
        aWriterWaitsForTheLastReader(bench().client("third"));
    }

    @Test
    void aWriterOfTheSameClientWaitsForTheLastReader() throws Exception {
        aWriterWaitsForTheLastReader(client());
    }

    private void aWriterWaitsForTheLastReader(LockClient writing) throws Exception {
        Actor localReader = actor("local reader");
        localReader.does(() -> locks().readLock().lock());
        rivalLocks().readLock().lock();
        Actor writer = actor("writer");
        Call<Boolean> waiting = writer.starts(() -> {
            writing.lock(NAME).lock();
            writing.lock(NAME).unlock();
        });
        writer.awaitParked();
        rivalLocks().readLock().unlock();
        writer.awaitParked();
        assertThat(waiting.isDone()).isFalse();
        localReader.does(() -> locks().readLock().unlock());
        waiting.get();
    }

    @Test
    void readersThatComeAfterAWaitingWriterWaitBehindIt() throws Exception {
        locks().readLock().lock();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        Call<Boolean> writer = actor("writer").starts(() -> {
            rivalLocks().writeLock().lock();
            order.add("writer");
            rivalLocks().writeLock().unlock();
        });
        bench().awaitWaiters(NAME, 1);
        DistributedLock lateReader = bench().client("third").readWriteLock(NAME).readLock();
        Call<Boolean> reader = actor("late reader").starts(() -> {
            lateReader.lock();
            order.add("reader");
            lateReader.unlock();
        });
        bench().awaitWaiters(NAME, 2);
        locks().readLock().unlock();
        writer.get();
        reader.get();
        assertThat(order).containsExactly("writer", "reader");
    }

    @Test
    void aStreamOfReadersDoesNotStarveAWriterOfAnotherClient() throws Exception {
        aStreamOfReadersDoesNotStarve(bench().client("third"));
    }

    @Test
    void aStreamOfReadersDoesNotStarveAWriterOfTheSameClient() throws Exception {
        aStreamOfReadersDoesNotStarve(client());
    }

    private void aStreamOfReadersDoesNotStarve(LockClient writing) throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        AtomicInteger reads = new AtomicInteger();
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DistributedLock readLock = (i % 2 == 0 ? locks() : rivalLocks()).readLock();
            calls.add(actor("reader-" + i).starts(() -> {
                while (!enough.get()) {
                    readLock.lock();
                    reads.incrementAndGet();
                    LockSupport.parkNanos(2_000_000);
                    readLock.unlock();
                }
            }));
        }
        try {
            Bench.await("readers read", () -> reads.get() > 20);
            for (int i = 0; i < 5; i++) {
                try (Lease lease = writing.readWriteLock(NAME)
                        .writeLock()
                        .tryAcquire(Bench.PATIENCE)
                        .orElseThrow(() -> new AssertionError("the writer was starved"))) {
                    assertThat(lease.isValid()).isTrue();
                }
            }
        } finally {
            enough.set(true);
        }
        for (Call<?> call : calls) {
            call.get();
        }
    }

    @Test
    void aStreamOfWritersDoesNotStarveAReader() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        List<Call<?>> calls = new ArrayList<>();
        for (Actor writer : bench().actors("writer", 4)) {
            calls.add(writer.starts(() -> {
                while (!enough.get()) {
                    lock().lock();
                    LockSupport.parkNanos(100_000);
                    lock().unlock();
                }
            }));
        }
        try {
            for (DistributedReadWriteLock reading : List.of(locks(), rivalLocks())) {
                reading.readLock().tryAcquire(Bench.PATIENCE).orElseThrow().close();
            }
        } finally {
            enough.set(true);
        }
        for (Call<?> call : calls) {
            call.get();
        }
    }

    @Test
    void aReadLockIsReenteredBeforeAWriterThatWaits() throws Exception {
        locks().readLock().lock();
        Actor writer = actor("writer");
        Call<Boolean> waiting = writer.starts(() -> rivalLocks().writeLock().lock());
        bench().awaitWaiters(NAME, 1);
        locks().readLock().lock();
        assertThat(locks().readLock().holdCount()).isEqualTo(2);
        locks().readLock().unlock();
        assertThat(waiting.isDone()).isFalse();
        locks().readLock().unlock();
        waiting.get();
        writer.does(() -> rivalLocks().writeLock().unlock());
    }

    @Test
    void eachSideIsUnlockedByItsOwnHolder() {
        locks().writeLock().lock();
        assertThatThrownBy(locks().readLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        locks().writeLock().unlock();
        locks().readLock().lock();
        assertThatThrownBy(locks().writeLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(rivalLocks().readLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(bench().isFree(NAME)).isFalse();
        locks().readLock().unlock();
    }

    @Test
    void readersTokensLieBetweenThoseOfTheWritersAroundThem() throws Exception {
        long before;
        try (Lease write = lock().acquire()) {
            before = write.token();
        }
        Lease first = locks().readLock().acquireAsync().get();
        Lease second = locks().readLock().acquireAsync().get();
        Lease third = rivalLocks().readLock().acquireAsync().get();
        List<Long> reads = List.of(first.token(), second.token(), third.token());
        first.close();
        second.close();
        third.close();
        assertThat(reads).allMatch(token -> token > before);
        try (Lease write = rivalLock().acquire()) {
            assertThat(reads).allMatch(token -> token < write.token());
        }
    }

    @Test
    void anAsynchronousReaderSharesAndAnAsynchronousWriterWaits() throws Exception {
        Lease reader = locks().readLock().acquireAsync().get();
        Lease another = rivalLocks().readLock().acquireAsync().get();
        CompletableFuture<Lease> writer = locks().writeLock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        assertThat(writer).isNotDone();
        reader.close();
        another.close();
        writer.get().close();
    }

    @Test
    void readersSeeNoHalfDoneWrite() throws Exception {
        long[] pair = new long[2];
        AtomicInteger torn = new AtomicInteger();
        int rounds = Math.max(5, fixture().attempts() / 20);
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            DistributedReadWriteLock lock = List.of(
                            locks(), rivalLocks(), bench().client("third").readWriteLock(NAME))
                    .get(i % 3);
            Random random = random(i);
            calls.add(actor("worker-" + i).starts(() -> {
                for (int round = 0; round < rounds; round++) {
                    if (random.nextInt(4) == 0) {
                        lock.writeLock().lock();
                        pair[0]++;
                        Thread.onSpinWait();
                        pair[1]++;
                        lock.writeLock().unlock();
                    } else {
                        lock.readLock().lock();
                        if (pair[0] != pair[1]) {
                            torn.incrementAndGet();
                        }
                        lock.readLock().unlock();
                    }
                }
            }));
        }
        for (Call<?> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
        assertThat(torn).hasValue(0);
        assertThat(pair[0]).isEqualTo(pair[1]).isPositive();
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairReadWriteLockServesInOrderAndReadersTogether() throws Exception {
        LockOptions fair = LockOptions.defaults().fair();
        Lease held = client().lock(NAME, fair).acquireAsync().get();
        CompletableFuture<Lease> firstReader =
                rival().readWriteLock(NAME, fair).readLock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        CompletableFuture<Lease> secondReader =
                bench().client("third").readWriteLock(NAME, fair).readLock().acquireAsync();
        bench().awaitWaiters(NAME, 2);
        CompletableFuture<Lease> writer = rival().lock(NAME, fair).acquireAsync();
        bench().awaitWaiters(NAME, 3);
        CompletableFuture<Lease> lateReader =
                client().readWriteLock(NAME, fair).readLock().acquireAsync();
        bench().awaitWaiters(NAME, 4);
        held.close();
        Lease first = firstReader.get();
        Lease second = secondReader.get();
        assertThat(first.isValid()).isTrue();
        assertThat(writer).isNotDone();
        first.close();
        second.close();
        Lease written = writer.get();
        assertThat(lateReader).isNotDone();
        written.close();
        lateReader.get().close();
    }
}
