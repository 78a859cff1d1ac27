package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Several locks as one: all or none, and no deadlock between callers that name them in another order. */
abstract class MultiLockContract extends ContractGroup {
    private static final String[] NAMES = {"c", "a", "b"};

    MultiLockContract(LockContract contract) {
        super(contract);
    }

    private DistributedLock all() {
        return client().multiLock(NAMES);
    }

    @Test
    void allLocksAreHeldUntilTheMultiLockIsReleased() {
        all().lock();
        for (String name : NAMES) {
            assertThat(bench().isFree(name)).isFalse();
        }
        assertThat(all().isHeldByCurrentThread()).isTrue();
        assertThat(client().lock("a").isHeldByCurrentThread()).isTrue();
        all().unlock();
        assertThat(all().isHeldByCurrentThread()).isFalse();
        for (String name : NAMES) {
            assertThat(bench().isFree(name)).isTrue();
        }
    }

    @Test
    void itsNameIsAllNames() throws Exception {
        assertThat(Arrays.stream(all().name().split(",")).map(String::strip)).containsExactlyInAnyOrder(NAMES);
        try (Lease lease = all().acquire()) {
            assertThat(Arrays.stream(lease.lockName().split(",")).map(String::strip))
                    .containsExactlyInAnyOrder(NAMES);
        }
    }

    @Test
    void noneIsHeldIfTheFirstIsBusy() throws Exception {
        noneIsHeldIfOneIsBusy("a");
    }

    @Test
    void noneIsHeldIfTheMiddleIsBusy() throws Exception {
        noneIsHeldIfOneIsBusy("b");
    }

    @Test
    void noneIsHeldIfTheLastIsBusy() throws Exception {
        noneIsHeldIfOneIsBusy("c");
    }

    private void noneIsHeldIfOneIsBusy(String busy) throws Exception {
        List<String> others =
                Arrays.stream(NAMES).filter(name -> !name.equals(busy)).toList();
        rival().lock(busy).lock();
        assertThat(all().tryLock()).isFalse();
        assertThat(others).allMatch(bench()::isFree);
        assertThat(all().tryAcquire()).isEmpty();
        assertThat(others).allMatch(bench()::isFree);
        Bench.inVain(
                Duration.ofMillis(700),
                wait -> assertThat(all().tryLock(wait.toMillis(), TimeUnit.MILLISECONDS))
                        .isFalse());
        assertThat(others).allMatch(bench()::isFree);
        assertThat(all().isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(all()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        Bench.inVain(
                Duration.ofMillis(700),
                wait -> assertThat(all().tryAcquireAsync(wait).get(60, TimeUnit.SECONDS))
                        .isEmpty());
        others.forEach(bench()::awaitFree);
        rival().lock(busy).unlock();
    }

    @Test
    void itWaitsForTheLastOfItsLocks() throws Exception {
        Actor rivalHolder = actor("rival");
        rivalHolder.does(() -> rival().lock("b").lock());
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> all().lock());
        bench().awaitWaiters("b", 1);
        assertThat(waiting.isDone()).isFalse();
        rivalHolder.does(() -> rival().lock("b").unlock());
        waiting.get();
        waiter.does(() -> all().unlock());
    }

    @Test
    void oppositeOrdersDoNotDeadlock() throws Exception {
        int[] guarded = new int[4];
        int rounds = Math.max(10, fixture().attempts() / 20);
        List<Call<?>> calls = new ArrayList<>();
        int[] expected = new int[4];
        for (int i = 0; i < 6; i++) {
            LockClient client = i % 2 == 0 ? client() : rival();
            Random random = random(i);
            List<List<Integer>> plans = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                List<Integer> plan = new ArrayList<>(List.of(0, 1, 2, 3));
                Collections.shuffle(plan, random);
                plans.add(plan.subList(0, 2 + random.nextInt(3)));
            }
            plans.forEach(plan -> plan.forEach(index -> expected[index]++));
            calls.add(actor("worker-" + i).starts(() -> {
                for (List<Integer> plan : plans) {
                    DistributedLock locks = client.multiLock(
                            plan.stream().map(index -> "guard-" + index).toArray(String[]::new));
                    locks.lock();
                    try {
                        plan.forEach(index -> guarded[index]++);
                    } finally {
                        locks.unlock();
                    }
                }
            }));
        }
        for (Call<?> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
        assertThat(guarded).isEqualTo(expected);
    }

    @Test
    void eachLockHasItsOwnRisingToken() throws Exception {
        long a;
        long b;
        try (Lease lease = all().acquire()) {
            a = lease.token("a");
            b = lease.token("b");
            assertThat(lease.token("a")).isEqualTo(a);
            assertThatThrownBy(lease::token).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> lease.token("d")).isInstanceOf(IllegalArgumentException.class);
        }
        try (Lease lease = rival().lock("a").acquire()) {
            assertThat(lease.token()).isGreaterThan(a);
        }
        try (Lease lease = all().acquire()) {
            assertThat(lease.token("a")).isGreaterThan(a);
            assertThat(lease.token("b")).isGreaterThan(b);
        }
    }

    @Test
    void aMultiLockOfOneNameHasOneToken() throws Exception {
        try (Lease lease = client().multiLock(NAME).acquire()) {
            assertThat(lease.token()).isEqualTo(lease.token(NAME)).isPositive();
            assertThat(lease.lockName()).isEqualTo(NAME);
        }
    }

    @Test
    void itIsReentrantWithTheLocksItConsistsOf() throws Exception {
        client().lock("a").lock();
        all().lock();
        all().lock();
        assertThat(all().holdCount()).isEqualTo(2);
        all().unlock();
        all().unlock();
        assertThat(bench().isFree("b")).isTrue();
        assertThat(bench().isFree("a")).isFalse();
        client().lock("a").unlock();
        assertThat(bench().isFree("a")).isTrue();
    }

    /** Whether it has them in time; an engine that did not answer in the end is no contradiction. */
    private boolean takesAll(Duration wait) throws InterruptedException {
        try {
            return all().tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (LockUnavailableException e) {
            return false;
        }
    }

    @Test
    void aTimedWaitIsSpentOnceOverAllLocks() throws Exception {
        Duration wait = Duration.ofSeconds(3);
        Actor rivalHolder = actor("rival");
        for (String name : NAMES) {
            rivalHolder.does(() -> rival().lock(name).lock());
        }
        Call<Long> ended = actor("waiter").start(() -> {
            assertThat(Bench.timed(() -> assertThat(takesAll(wait)).isFalse())).isGreaterThanOrEqualTo(wait);
            return System.nanoTime();
        });
        // Two of three are freed late: a wait that starts again for each lock would only begin its full time then.
        Bench.letPass(wait.minusSeconds(1));
        long freed = System.nanoTime();
        rivalHolder.does(() -> rival().lock("a").unlock());
        rivalHolder.does(() -> rival().lock("c").unlock());
        assertThat(Duration.ofNanos(ended.get() - freed)).isLessThan(wait);
        bench().awaitFree("a");
        rivalHolder.does(() -> rival().lock("b").unlock());
    }

    @Test
    void anInterruptLeavesNoneOfThem() throws Exception {
        rival().lock("b").lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(
                () -> assertThatThrownBy(all()::lockInterruptibly).isExactlyInstanceOf(InterruptedException.class));
        bench().awaitWaiters("b", 1);
        waiter.interrupt();
        waiting.get();
        bench().awaitFree("a");
        bench().awaitFree("c");
        bench().awaitWaiters("b", 0);
        rival().lock("b").unlock();
    }

    @Test
    void asynchronouslyItIsAllOrNoneToo() throws Exception {
        rival().lock("b").lock();
        CompletableFuture<Lease> cancelled = all().acquireAsync();
        bench().awaitWaiters("b", 1);
        cancelled.cancel(true);
        bench().awaitFree("a");
        bench().awaitFree("c");
        CompletableFuture<Lease> waiting = all().acquireAsync();
        bench().awaitWaiters("b", 1);
        rival().lock("b").unlock();
        Lease lease = waiting.get(20, TimeUnit.SECONDS);
        assertThat(List.of(NAMES)).noneMatch(bench()::isFree);
        actor("another").does(lease::close);
        assertThat(List.of(NAMES)).allMatch(bench()::isFree);
    }

    @Test
    void theLossOfOneLockIsTheLossOfAll() throws Exception {
        DistributedLock leased =
                client().multiLock(List.of(NAMES), LockOptions.defaults().maxHold(Duration.ofMillis(300)));
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease lease = leased.acquire();
        lease.onLost(reasons::add);
        Bench.await("the locks are lost", () -> !lease.isValid());
        Bench.await("the loss is reported", () -> !reasons.isEmpty());
        assertThatThrownBy(lease::ensureValid).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        lease.close();
        assertThat(reasons).containsExactly(LossReason.MAX_HOLD_REACHED);
        for (String name : NAMES) {
            bench().awaitFree(name);
        }
    }

    @Test
    void theRemainingLocksAreReleasedWhenOneWasRevoked() throws Exception {
        Lease lease = openShortLived("holder").multiLock(NAMES).acquireAsync().get();
        assertThat(rival().forceRelease("a")).isTrue();
        Bench.await("the locks are lost", () -> !lease.isValid());
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        for (String name : NAMES) {
            bench().awaitFree(name);
        }
    }

    private static List<String> many(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> String.format("many-%04d", number))
                .toList();
    }

    /** As many as the engine can take in a moment, even one by one. */
    @Test
    void manyNamesAreTakenAndReleasedTogether() throws Exception {
        List<String> names = many(Math.max(30, Math.min(1_000, fixture().attempts())));
        DistributedLock locks = client().multiLock(names, LockOptions.defaults());
        String last = names.get(names.size() - 1);
        try (Lease lease = locks.acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(names).allMatch(name -> lease.token(name) > 0);
            assertThat(rival().multiLock(names, LockOptions.defaults()).tryLock())
                    .isFalse();
            assertThat(rival().lock(last).tryLock()).isFalse();
        }
        assertThat(rival().multiLock(names, LockOptions.defaults()).tryLock()).isTrue();
        rival().multiLock(names, LockOptions.defaults()).unlock();
        Lease asynchronous = locks.acquireAsync().get(60, TimeUnit.SECONDS);
        asynchronous.closeAsync().get(60, TimeUnit.SECONDS);
        assertThat(bench().isFree(names.get(0))).isTrue();
        assertThat(bench().isFree(last)).isTrue();
    }

    @Test
    void oneOfManyIsWaitedForWithoutThoseBehindIt() throws Exception {
        List<String> names = many(20);
        DistributedLock locks = client().multiLock(names, LockOptions.defaults());
        Actor holder = actor("rival");
        holder.does(() -> rival().lock("many-0010").lock());
        assertThat(locks.tryLock()).isFalse();
        assertThat(bench().isFree("many-0009")).isTrue();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(locks::lock);
        // A try for all at once may show for a moment, in the queue of the tenth and as the holder of those behind it.
        Bench.await("those before it are held", () -> !bench().isFree("many-0009"));
        bench().awaitWaiters("many-0010", 1);
        bench().awaitFree("many-0011");
        bench().awaitFree("many-0019");
        assertThat(bench().isFree("many-0009")).isFalse();
        assertThat(waiting.isDone()).isFalse();
        holder.does(() -> rival().lock("many-0010").unlock());
        waiting.get();
        assertThat(bench().isFree("many-0019")).isFalse();
        waiter.does(locks::unlock);
        names.forEach(bench()::awaitFree);
    }

    @Test
    void aWaiterForOneOfManyIsServedWhenAllAreReleased() throws Exception {
        List<String> names = many(20);
        DistributedLock locks = client().multiLock(names, LockOptions.defaults());
        Actor holder = actor("holder");
        holder.does(locks::lock);
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> rival().lock("many-0007").lock());
        bench().awaitWaiters("many-0007", 1);
        holder.does(locks::unlock);
        waiting.get();
        assertThat(locks.tryLock()).isFalse();
        waiter.does(() -> rival().lock("many-0007").unlock());
    }

    @Test
    void tokensOfManyRiseOverThoseOfOne() throws Exception {
        List<String> names = many(20);
        DistributedLock locks = client().multiLock(names, LockOptions.defaults());
        long before;
        try (Lease lease = rival().lock("many-0003").acquire()) {
            before = lease.token();
        }
        long mine;
        try (Lease lease = locks.acquire()) {
            mine = lease.token("many-0003");
            assertThat(mine).isGreaterThan(before);
        }
        try (Lease lease = rival().lock("many-0003").acquire()) {
            assertThat(lease.token()).isGreaterThan(mine);
        }
    }

    @Test
    void theLossOfOneOfManyLeavesTheOthersToBeReleased() throws Exception {
        List<String> names = many(20);
        Lease lease = openShortLived("holder")
                .multiLock(names, LockOptions.defaults())
                .acquireAsync()
                .get(20, TimeUnit.SECONDS);
        assertThat(rival().forceRelease("many-0012")).isTrue();
        Bench.await("the locks are lost", () -> !lease.isValid());
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        names.forEach(bench()::awaitFree);
    }

    @Test
    void namesMustBeGivenAndDiffer() {
        assertThatThrownBy(() -> client().multiLock()).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client().multiLock("a", "b", "a")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client().multiLock("a", "")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client().multiLock(List.of(), LockOptions.defaults()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
