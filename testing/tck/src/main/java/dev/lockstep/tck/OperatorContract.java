package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.EngineInfo;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An operator sees holders and waiters, and can release a lock by force. */
abstract class OperatorContract extends ContractGroup {
    OperatorContract(LockContract contract) {
        super(contract);
    }

    private LockClient operator() {
        return bench().client("operator");
    }

    @Test
    void anUnusedLockIsFree() {
        LockInfo info = operator().inspect(NAME);
        assertThat(info.name()).isEqualTo(NAME);
        assertThat(info.isFree()).isTrue();
        assertThat(info.holders()).isEmpty();
        assertThat(info.waiters()).isEmpty();
        assertThat(operator().list("")).isEmpty();
    }

    @Test
    void aHolderIsShown() throws Exception {
        long earlier;
        try (Lease lease = rivalLock().acquire()) {
            earlier = lease.token();
        }
        Actor actor = actor("the holder's thread");
        Lease lease = actor.call(() -> lock().acquire());
        LockInfo info = operator().inspect(NAME);
        assertThat(info.isFree()).isFalse();
        assertThat(info.holders()).singleElement().satisfies(entry -> {
            assertThat(entry.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(entry.token().orElseThrow())
                    .isLessThanOrEqualTo(lease.token())
                    .isGreaterThan(earlier);
            assertThat(entry.holder().client()).isEqualTo(client().name());
            assertThat(entry.holder().pid()).isEqualTo(ProcessHandle.current().pid());
            assertThat(entry.holder().thread()).matches("the holder's thread #\\d+");
            assertThat(entry.holder().host()).isNotEmpty();
            assertThat(entry.holder().since())
                    .isBetween(
                            Instant.now().minus(Duration.ofMinutes(10)),
                            Instant.now().plus(Duration.ofMinutes(10)));
        });
        assertThat(operator().list("")).singleElement().satisfies(listed -> {
            assertThat(listed.name()).isEqualTo(NAME);
            assertThat(listed.holders()).hasSize(1);
        });
        actor.does(lease::close);
        assertThat(operator().inspect(NAME).isFree()).isTrue();
    }

    @Test
    @Requires(Capability.SHOWS_WAITERS)
    void waitersAreShown() throws Exception {
        lock().lock();
        CompletableFuture<Lease> waiting = rivalLock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        assertThat(operator().inspect(NAME).waiters()).singleElement().satisfies(entry -> {
            assertThat(entry.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(entry.token()).isEmpty();
            assertThat(entry.remaining()).isEmpty();
            assertThat(entry.requested()).isPresent();
            assertThat(entry.granted()).isEmpty();
            assertThat(entry.holder().client()).isEqualTo(rival().name());
        });
        lock().unlock();
        Lease lease = waiting.get(20, TimeUnit.SECONDS);
        bench().awaitWaiters(NAME, 0);
        assertThat(operator().inspect(NAME).holders())
                .singleElement()
                .matches(entry -> entry.holder().client().equals(rival().name()));
        lease.close();
    }

    @Test
    @Requires(Capability.SHOWS_REMAINING)
    void theTimeThatIsLeftIsShown() {
        lock().lock();
        assertIsLeft(operator().inspect(NAME), Bench.LONG_TTL);
        assertIsLeft(operator().list("").get(0), Bench.LONG_TTL);
        lock().unlock();
    }

    @Test
    @Requires({Capability.SHOWS_REMAINING, Capability.SHARED})
    void theTimeThatIsLeftToAReaderIsShown() {
        client().readWriteLock(NAME).readLock().lock();
        assertIsLeft(operator().inspect(NAME), Bench.LONG_TTL);
        client().readWriteLock(NAME).readLock().unlock();
    }

    private static void assertIsLeft(LockInfo info, Duration ttl) {
        assertThat(info.holders())
                .singleElement()
                .satisfies(entry -> assertThat(entry.remaining())
                        .hasValueSatisfying(left -> assertThat(left).isBetween(ttl.dividedBy(3), ttl)));
    }

    /** One that lives renews before two thirds of its ttl have passed. */
    @Test
    @Requires({Capability.SHOWS_REMAINING, Capability.BREAK_CONNECTION})
    void aHolderThatIsOutOfTouchHasLessAndLessTime() {
        LockClient holder = openShortLived("holder");
        holder.lock(NAME).acquireAsync().join();
        bench().fixture().breakConnection(holder);
        Duration little = bench().fixture().ttl().dividedBy(2);
        Bench.await(
                "its time runs out",
                () -> operator().inspect(NAME).holders().stream()
                        .anyMatch(entry -> entry.remaining().orElseThrow().compareTo(little) < 0));
        Bench.await("the lock is free", () -> operator().inspect(NAME).isFree());
        bench().fixture().healConnection(holder);
    }

    @Test
    @Requires(Capability.SHARED)
    void readersOfSeveralClientsAreShown() {
        client().readWriteLock(NAME).readLock().lock();
        rival().readWriteLock(NAME).readLock().lock();
        assertThat(operator().inspect(NAME).holders())
                .hasSize(2)
                .allMatch(entry -> entry.mode() == LockMode.SHARED)
                .extracting(entry -> entry.holder().client())
                .containsExactlyInAnyOrder(client().name(), rival().name());
        client().readWriteLock(NAME).readLock().unlock();
        rival().readWriteLock(NAME).readLock().unlock();
    }

    @Test
    void theEngineSaysWhatItIs() {
        EngineInfo info = operator().describe();
        assertThat(info.product()).isNotBlank();
        info.clock()
                .ifPresent(clock -> assertThat(clock)
                        .isBetween(
                                Instant.now().minus(Duration.ofMinutes(10)),
                                Instant.now().plus(Duration.ofMinutes(10))));
        assertThat(info.guarantees()).allMatch(OperatorContract::isSentence);
        assertThat(info.limits()).allMatch(OperatorContract::isSentence);
    }

    private static boolean isSentence(String text) {
        return text.endsWith(".") && Character.isLetterOrDigit(text.charAt(0));
    }

    @Test
    void aFreeLockCannotBeReleasedByForce() {
        assertThat(operator().forceRelease(NAME)).isFalse();
        lock().lock();
        lock().unlock();
        assertThat(operator().forceRelease(NAME)).isFalse();
    }

    @Test
    void aForcedReleaseIsALossToTheHolder() throws Exception {
        LockClient holder = openShortLived("holder");
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease lease = holder.lock(NAME).acquire();
        lease.onLost(reasons::add);
        assertThat(operator().forceRelease(NAME)).isTrue();
        Bench.await("the holder learns", () -> !lease.isValid());
        Bench.await("the loss is reported", () -> reasons.size() == 1);
        assertThat(reasons).containsAnyOf(LossReason.REVOKED, LossReason.SESSION_ENDED);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        assertThat(bench().isFree(NAME)).isTrue();
        assertThat(reasons).hasSize(1);
        holder.lock(NAME).lock();
        holder.lock(NAME).unlock();
    }

    @Test
    void theNextWaiterIsServedAfterAForcedRelease() throws Exception {
        LockClient holder = openShortLived("holder");
        DistributedLock lock = holder.lock(NAME);
        lock.lock();
        Actor waiter = actor("waiter");
        Call<Lease> waiting = waiter.start(() -> rivalLock().acquire());
        bench().awaitWaiters(NAME, 1);
        assertThat(operator().forceRelease(NAME)).isTrue();
        Lease next = waiting.get();
        Bench.await("the holder learns", () -> !lock.isHeldByCurrentThread());
        // The old holder's release is too late and frees nobody.
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        assertThat(bench().isFree(NAME)).isFalse();
        assertThat(next.isValid()).isTrue();
        waiter.does(next::close);
    }

    private long shownToken(LockClient holder) {
        return operator().inspect(NAME).holders().stream()
                .filter(entry -> entry.holder().client().equals(holder.name()))
                .findAny()
                .orElseThrow()
                .token()
                .orElseThrow();
    }

    @Test
    void aForcedReleaseEndsTheGrantThatWasSeen() throws Exception {
        LockClient holder = openShortLived("holder");
        Lease lease = holder.lock(NAME).acquire();
        long seen = shownToken(holder);
        assertThat(operator().forceRelease(NAME, seen)).isTrue();
        Bench.await("the holder learns", () -> !lease.isValid());
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        assertThat(bench().isFree(NAME)).isTrue();
        assertThat(operator().forceRelease(NAME, seen)).isFalse();
    }

    @Test
    void theTokenOfALeaseIdentifiesItsGrant() throws Exception {
        LockClient holder = openShortLived("holder");
        Lease lease = holder.lock(NAME).acquire();
        assertThat(operator().forceRelease(NAME, lease.token())).isTrue();
        Bench.await("the holder learns", () -> !lease.isValid());
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void aForcedReleaseSparesALaterGrant() throws Exception {
        lock().lock();
        long seen = shownToken(client());
        lock().unlock();
        try (Lease next = rivalLock().acquire()) {
            assertThat(operator().forceRelease(NAME, seen)).isFalse();
            assertThat(operator().forceRelease(NAME, next.token() + (1L << 20))).isFalse();
            assertThat(operator().forceRelease("another name", next.token())).isFalse();
            assertThat(next.isValid()).isTrue();
            assertThat(operator().inspect(NAME).holders()).hasSize(1);
        }
    }

    @Test
    void aTokenIsPositive() {
        assertThatThrownBy(() -> operator().forceRelease(NAME, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> operator().forceRelease(NAME, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Requires(Capability.SHARED)
    void aForcedReleaseCanEndOneOfSeveralReaders() throws Exception {
        LockClient first = openShortLived("first");
        Lease one = first.readWriteLock(NAME).readLock().acquireAsync().get();
        Lease two = rival().readWriteLock(NAME).readLock().acquireAsync().get();
        assertThat(operator().forceRelease(NAME, shownToken(first))).isTrue();
        Bench.await("it learns", () -> !one.isValid());
        assertThatThrownBy(one::close).isInstanceOf(LockLostException.class);
        assertThat(two.isValid()).isTrue();
        assertThat(operator().inspect(NAME).holders())
                .singleElement()
                .matches(entry -> entry.holder().client().equals(rival().name()));
        two.close();
    }

    /** Whether the holder releases or the operator takes away: the one that comes next keeps the lock. */
    @Test
    @Requires(Capability.SHOWS_WAITERS)
    void aForcedReleaseThatComesTooLateEndsNoGrant() throws Exception {
        Actor actor = actor("operator");
        for (int i = 0; i < 20; i++) {
            Lease lease = lock().acquireAsync().get();
            CompletableFuture<Lease> waiting = rivalLock().acquireAsync();
            bench().awaitWaiters(NAME, 1);
            long seen = shownToken(client());
            Call<Boolean> forced = actor.start(() -> operator().forceRelease(NAME, seen));
            try {
                lease.close();
            } catch (LockLostException e) {
                assertThat(forced.get()).isTrue();
            }
            Lease next = waiting.get(20, TimeUnit.SECONDS);
            forced.get();
            assertThat(operator().forceRelease(NAME, seen)).isFalse();
            assertThat(next.isValid()).isTrue();
            next.close();
        }
    }

    @Test
    @Requires(Capability.LISTS_NAMESPACES)
    void theLocksOfAnotherNamespaceAreFound() throws Exception {
        String other = bench().namespace() + "%/{ö}:?*";
        LockClient foreign = bench().open(builder -> builder.namespace(other).clientName("foreign"));
        try (Lease theirs = foreign.lock(NAME).acquire();
                Lease ours = client().lock("ours").acquire()) {
            assertThat(operator().namespaces())
                    .contains(bench().namespace(), other)
                    .doesNotHaveDuplicates()
                    .isSorted();
            assertThat(operator().inspect(NAME).isFree()).isTrue();
            assertThat(operator().admin(other).inspect(NAME).holders())
                    .singleElement()
                    .matches(entry -> entry.holder().client().equals("foreign"));
            assertThat(operator().admin(other).list("")).singleElement().satisfies(listed -> {
                assertThat(listed.name()).isEqualTo(NAME);
                assertThat(listed.holders()).hasSize(1);
            });
            assertThat(operator().admin(bench().namespace()).list(""))
                    .extracting(LockInfo::name)
                    .containsExactly("ours");
            assertThat(operator().admin(other).forceRelease("ours")).isFalse();
            assertThat(operator().admin(other).forceRelease("ours", ours.token()))
                    .isFalse();
            assertThat(ours.isValid() && theirs.isValid()).isTrue();
        }
        assertThat(operator().admin(other).inspect(NAME).isFree()).isTrue();
        // An engine of several servers may confirm a release before the last of them has seen it.
        Bench.await(
                "nothing is left in the other namespace",
                () -> operator().admin(other).list("").isEmpty());
    }

    @Test
    @Requires(Capability.LISTS_NAMESPACES)
    void aLockOfAnotherNamespaceIsReleasedByForce() throws Exception {
        String other = bench().namespace() + "-other";
        LockClient foreign = open(builder -> builder.namespace(other).ttl(shortTtl()));
        for (boolean byToken : new boolean[] {true, false}) {
            Lease lease = foreign.lock(NAME).acquireAsync().get();
            long token = lease.token();
            assertThat(operator().forceRelease(NAME)).isFalse();
            assertThat(operator().forceRelease(NAME, token)).isFalse();
            assertThat(
                            byToken
                                    ? operator().admin(other).forceRelease(NAME, token)
                                    : operator().admin(other).forceRelease(NAME))
                    .isTrue();
            Bench.await("the holder learns", () -> !lease.isValid());
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        }
    }

    @Test
    void anUnusedNamespaceIsEmpty() {
        assertThat(operator().namespaces()).doesNotContain("nobody's");
        assertThatThrownBy(() -> operator().admin("")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aThreadOfTheSameClientIsServedAfterAForcedRelease() throws Exception {
        LockClient holder = openShortLived("holder");
        Lease lost = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = holder.lock(NAME).acquireAsync();
        assertThat(operator().forceRelease(NAME)).isTrue();
        Lease next = waiting.get(20, TimeUnit.SECONDS);
        assertThat(lost.isValid()).isFalse();
        assertThat(next.isValid()).isTrue();
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
        assertThat(bench().isFree(NAME)).isFalse();
        next.close();
    }

    @Test
    @Requires(Capability.SHARED)
    void allReadersLoseALockThatIsReleasedByForce() throws Exception {
        LockClient first = openShortLived("first");
        LockClient second = openShortLived("second");
        Lease one = first.readWriteLock(NAME).readLock().acquireAsync().get();
        Lease two = second.readWriteLock(NAME).readLock().acquireAsync().get();
        assertThat(operator().forceRelease(NAME)).isTrue();
        Bench.await("both learn", () -> !one.isValid() && !two.isValid());
        assertThatThrownBy(one::close).isInstanceOf(LockLostException.class);
        assertThatThrownBy(two::close).isInstanceOf(LockLostException.class);
        assertThat(bench().isFree(NAME)).isTrue();
    }
}
