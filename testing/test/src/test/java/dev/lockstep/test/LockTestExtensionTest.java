package dev.lockstep.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The objects that the extension gives to tests, and their end. */
class LockTestExtensionTest {
    private static final List<LockClient> GIVEN = new ArrayList<>();

    @AfterAll
    static void everyClientIsClosedAfterItsTest() {
        assertThat(GIVEN).isNotEmpty().allMatch(LockClient::isClosed);
    }

    @Nested
    @ExtendWith(LockTestExtension.class)
    class InTheJvm {
        private LockClient before;

        @BeforeEach
        void remember(LockClient locks) {
            before = locks;
            GIVEN.add(locks);
        }

        // tag::stops-when-lost
        @Test
        void stopsWhenTheLockIsLost(LockClient locks, TestEngine engine, @OtherProcess LockClient other)
                throws Exception {
            Shipping shipping = new Shipping(locks);
            shipping.beforeEachParcel(parcel -> {
                if (parcel == 2) {
                    engine.loseLock("order:42"); // as if this process had been paused for too long
                    other.lock("order:42").lock();
                }
            });
            assertThatThrownBy(() -> shipping.ship(42, 3)).isInstanceOf(LockLostException.class);
            assertThat(shipping.shipped()).containsExactly(1);
        }
        // end::stops-when-lost

        /** A lock that is left held does not reach the next test. */
        @RepeatedTest(2)
        void everyTestHasAnEngineOfItsOwn(LockClient locks) {
            assertThat(locks).isSameAs(before);
            assertThat(locks.lock("left held").tryLock()).isTrue();
        }

        @Test
        void anOutageAtTheEndOfATestIsOverWhenItsClientsClose(LockClient locks, TestEngine engine) {
            locks.lock("held").lock();
            engine.takeAway();
        }
    }

    @Nested
    class OnAUrl {
        // tag::register
        @RegisterExtension
        static final LockTestExtension LOCKS = LockTestExtension.on(() -> "jdbc:h2:mem:shop?lockstep.createSchema=true")
                .configure(client -> client.ttl(Duration.ofSeconds(5)));
        // end::register

        @RepeatedTest(2)
        void everyTestHasANamespaceOfItsOwn(LockClient locks, @OtherProcess LockClient other) {
            GIVEN.add(other);
            locks.lock("left held").lock();
            assertThat(other.lock("left held").tryLock()).isFalse();
        }
    }

    /** Code under test. */
    private static final class Shipping {
        private final LockClient locks;
        private final List<Integer> shipped = new ArrayList<>();
        private IntConsumer before = parcel -> {};

        Shipping(LockClient locks) {
            this.locks = locks;
        }

        void beforeEachParcel(IntConsumer action) {
            before = action;
        }

        void ship(int order, int parcels) throws InterruptedException {
            try (Lease lease = locks.lock("order:" + order).acquire()) {
                for (int parcel = 1; parcel <= parcels; parcel++) {
                    before.accept(parcel);
                    lease.ensureValid();
                    shipped.add(parcel);
                }
            }
        }

        List<Integer> shipped() {
            return shipped;
        }
    }
}
