package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An engine that swallows every request costs a call one request timeout, not several. A call with a longer time of its own
 * ends at that time. What is counted are timeouts: the bounds leave room for a busy machine, but not for a second timeout.
 */
@Requires(Capability.BREAK_CONNECTION)
abstract class SilentEngineContract extends ContractGroup {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration ROOM = TIMEOUT.multipliedBy(7).dividedBy(10);
    private static final Duration ONE_TIMEOUT = TIMEOUT.plus(ROOM);
    private static final int THREADS = 6;

    private LockClient silenced;

    SilentEngineContract(LockContract contract) {
        super(contract);
    }

    @BeforeEach
    void openClientWhoseEngineWillBeSilent() {
        silenced = open(builder -> builder.clientName("silenced")
                .requestTimeout(TIMEOUT)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50)));
    }

    @AfterEach
    void letTheEngineAnswer() {
        if (isRunning()) {
            fixture().healConnection(silenced);
        }
    }

    /** The second call finds no connection that was made before the silence. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "LOCK_INTERRUPTIBLY", "TRY_LOCK", "ACQUIRE", "TRY_ACQUIRE", "ACQUIRE_ASYNC"})
    void aCallWithoutATimeCostsOneTimeout(Way way) throws Exception {
        useOnce(silenced.lock(NAME));
        fixture().breakConnection(silenced);
        for (String name : List.of(NAME, "order:43")) {
            DistributedLock lock = silenced.lock(name);
            assertThat(unavailable(() -> way.take(lock, Duration.ZERO))).isLessThan(ONE_TIMEOUT);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aTimedCallCostsItsTimeOrOneTimeout(Way way) throws Exception {
        useOnce(silenced.lock(NAME));
        fixture().breakConnection(silenced);
        for (Duration wait : List.of(Duration.ZERO, TIMEOUT.dividedBy(4), TIMEOUT.multipliedBy(2))) {
            Duration bound = wait.compareTo(TIMEOUT) > 0 ? wait.plus(ROOM) : ONE_TIMEOUT;
            assertThat(unavailable(() -> way.take(silenced.lock(NAME), wait))).isLessThan(bound);
        }
    }

    @Test
    void aReleaseCostsOneTimeout() throws Exception {
        DistributedLock lock = silenced.lock(NAME);
        takePatiently(lock);
        Lease lease = silenced.lock("order:43").tryAcquire(Bench.PATIENCE).orElseThrow();
        fixture().breakConnection(silenced);
        assertThat(unconfirmed(lock::unlock)).isLessThan(ONE_TIMEOUT);
        assertThat(unconfirmed(lease::close)).isLessThan(ONE_TIMEOUT);
    }

    /** However few connections they share. */
    @Test
    void callsOfManyThreadsCostOneTimeoutEach() throws Exception {
        List<Actor> releasers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            DistributedLock held = silenced.lock("held:" + i);
            releasers.add(actor("releaser-" + i));
            releasers.get(i).does(() -> takePatiently(held));
        }
        fixture().breakConnection(silenced);
        List<Call<Duration>> calls = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            DistributedLock held = silenced.lock("held:" + i);
            DistributedLock free = silenced.lock("free:" + i);
            calls.add(releasers.get(i).start(() -> unconfirmed(held::unlock)));
            calls.add(actor("taker-" + i).start(() -> unavailable(free::lock)));
        }
        for (Call<Duration> call : calls) {
            assertThat(call.get()).isLessThan(ONE_TIMEOUT);
        }
    }

    private static void useOnce(DistributedLock lock) throws InterruptedException {
        takePatiently(lock);
        lock.unlock();
    }

    private static Duration unavailable(Call.Step call) throws Exception {
        return failing(call, LockUnavailableException.class);
    }

    private static Duration unconfirmed(Call.Step release) throws Exception {
        return failing(release, ReleaseNotConfirmedException.class);
    }

    private static Duration failing(Call.Step call, Class<?> type) throws Exception {
        return Bench.timed(() -> assertThatThrownBy(call::run).isInstanceOf(type));
    }
}
