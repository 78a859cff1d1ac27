package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DeadlockException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.turnstile.SimThread;
import dev.lockstep.logs.ThreadLogs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How soon a call that has waited for long learns that it is in a deadlock, in the time of the simulation. */
class DeadlockDelayTest {
    /**
     * The wait that closes the ring is recorded, the older call's client reads it, and reads it again: with the default of a
     * second these are less than three.
     */
    private static final double BOUND = 2.75;

    private static final int SEEDS = 100;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 10, 60})
    void anOlderCallFailsSoonAfterTheRingIsClosed(int waited) {
        ThreadLogs.onError(message -> {}); // and nothing is printed, such as the warnings of these deadlocks
        try {
            for (long seed = 1; seed <= SEEDS; seed++) {
                assertThat(new Ring(seed).failsAfter(waited))
                        .as("seed %d, in times of that after which a wait is recorded", seed)
                        .isLessThan(BOUND);
            }
        } finally {
            ThreadLogs.onError(null);
        }
    }

    /** Two threads of two clients; the second waits with a deadline, so that the first is to fail. */
    private static final class Ring extends RecipeWorld {
        private final Thread one = new Thread("one");
        private final Thread two = new Thread("two");

        Ring(long seed) {
            super(seed, false);
        }

        /** Lets one thread wait for some time before the other one closes the ring; how long after that its call fails. */
        double failsAfter(int waited) {
            hold(one, 0, "lock-1");
            hold(two, 1, "lock-2");
            SimThread older = new SimThread(
                    one, clients[0], "lock-2", LockMode.EXCLUSIVE, LockOptions.defaults(), SimThread.FOREVER);
            world.runUntil(world.now() + waited * RECORD_AFTER + world.time(RECORD_AFTER));
            long closed = world.now();
            SimThread younger = new SimThread(
                    two, clients[1], "lock-1", LockMode.EXCLUSIVE, LockOptions.defaults(), 1_000 * RECORD_AFTER);
            while (!older.look() && world.now() - closed < 100 * RECORD_AFTER) {
                world.runUntil(world.now() + World.MILLI / 10);
            }
            assertThat(older.error()).isInstanceOf(DeadlockException.class);
            assertThat(younger.isDone()).isFalse();
            return (world.now() - closed) / (double) RECORD_AFTER;
        }

        private void hold(Thread thread, int client, String lock) {
            SimThread call = new SimThread(
                    thread, clients[client], lock, LockMode.EXCLUSIVE, LockOptions.defaults(), SimThread.FOREVER);
            while (!call.look()) {
                world.runUntil(world.now() + World.MILLI);
            }
            assertThat(call.lease()).isNotNull();
        }

        @Override
        void act(int node) {}

        @Override
        void finish() {}

        @Override
        void checkServed() {}

        @Override
        void leave() {}
    }
}
