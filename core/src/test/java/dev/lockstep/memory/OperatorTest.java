package dev.lockstep.memory;

import static dev.lockstep.memory.Clients.granted;
import static dev.lockstep.memory.Clients.lost;
import static dev.lockstep.memory.Clients.release;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The view and the actions of operators. */
class OperatorTest extends EngineTest {
    @Test
    void inspectShowsHoldersAndWaitersInOrder() {
        Claim held = a.exclusive("x");
        b.shared("x");
        c.exclusive("x");

        LockInfo info = a.backend().inspect("x").toCompletableFuture().join();

        assertThat(info.holders()).singleElement().satisfies(entry -> {
            assertThat(entry.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(entry.token()).hasValue(granted(held).token());
            assertThat(entry.holder().client()).isEqualTo("a");
        });
        assertThat(info.waiters()).extracting(entry -> entry.holder().client()).containsExactly("b", "c");
        assertThat(info.waiters()).allSatisfy(entry -> assertThat(entry.token()).isEmpty());
    }

    @Test
    void aHolderIsShownWithTheTimeOfItsGrantAndAWaiterWithNone() {
        Duration ago = TTL.dividedBy(4);
        Claim held = a.exclusive("x");
        Claim next = b.exclusive("x");
        time.advance(ago);
        assertWasGranted(ago);
        assertThat(inspect("x").waiters())
                .singleElement()
                .satisfies(entry -> assertThat(entry.granted()).isEmpty());
        release(held);
        granted(next);
        time.advance(ago);
        assertWasGranted(ago);
    }

    /** The virtual clock moves no wall clock. */
    private void assertWasGranted(Duration ago) {
        Instant before = Instant.now();
        Instant shown = inspect("x").holders().get(0).granted().orElseThrow();
        assertThat(shown.plus(ago)).isBetween(before, Instant.now());
        time.advance(Duration.ofMillis(1));
        assertThat(inspect("x").holders().get(0).granted()).hasValue(shown);
    }

    private LockInfo inspect(String name) {
        return a.backend().inspect(name).toCompletableFuture().join();
    }

    @Test
    void inspectOfAnUnusedNameIsEmptyAndLeavesNothing() {
        LockInfo info = a.backend().inspect("x").toCompletableFuture().join();
        assertThat(info).isEqualTo(LockInfo.free("x"));
        assertThat(engine.lockCount()).isZero();
    }

    @Test
    void listFindsLocksByPrefix() {
        a.exclusive("order:1");
        b.shared("order:2");
        b.exclusive("stock:1");
        assertThat(c.backend().list("order:").toCompletableFuture().join())
                .extracting(LockInfo::name)
                .containsExactlyInAnyOrder("order:1", "order:2");
        assertThat(c.backend().list("").toCompletableFuture().join()).hasSize(3);
    }

    @Test
    void aForcedReleaseNotifiesTheHolderBeforeItServesTheNext() {
        Claim held = a.exclusive("x");
        Claim next = b.exclusive("x");
        List<String> order = new ArrayList<>();
        lost(held).thenAccept(reason -> order.add("lost: " + reason));
        next.outcome().thenRun(() -> order.add("granted"));

        assertThat(c.backend().forceRelease("x").toCompletableFuture()).isCompletedWithValue(true);

        assertThat(order).containsExactly("lost: " + LossReason.REVOKED, "granted");
        assertThat(release(held)).isCompletedWithValue(false);
        assertThat(granted(next).token()).isGreaterThan(granted(held).token());
    }

    @Test
    void aForcedReleaseEndsEveryReader() {
        Claim one = a.shared("x");
        Claim two = b.shared("x");
        Claim writer = c.exclusive("x");
        assertThat(engine.revoke("x")).isTrue();
        assertThat(lost(one)).isCompletedWithValue(LossReason.REVOKED);
        assertThat(lost(two)).isCompletedWithValue(LossReason.REVOKED);
        granted(writer);
    }

    @Test
    void aForcedReleaseOfAFreeLockIsFalse() {
        assertThat(a.backend().forceRelease("x").toCompletableFuture()).isCompletedWithValue(false);
        assertThat(engine.lockCount()).isZero();
    }

    @Test
    void theHolderMayReleaseWhileItLearnsOfItsLoss() {
        Claim held = a.exclusive("x");
        Claim next = b.exclusive("x");
        List<Boolean> released = new ArrayList<>();
        lost(held).thenRun(() -> released.add(release(held).join()));
        engine.revoke("x");
        assertThat(released).containsExactly(false);
        granted(next);
    }
}
