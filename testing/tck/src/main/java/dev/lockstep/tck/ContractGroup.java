package dev.lockstep.tck;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The base of the contract's parts, one for each topic. Two clients in one test stand for two processes; the lock they
 * compete for is {@link #NAME} unless names are the topic.
 */
@Execution(ExecutionMode.CONCURRENT)
abstract class ContractGroup {
    static final String NAME = "order:42";

    private static final Duration LEAST_RENEWED_TTL = Duration.ofSeconds(3);

    private final LockContract contract;

    ContractGroup(LockContract contract) {
        this.contract = contract;
    }

    final Bench bench() {
        return contract.bench();
    }

    /** False if the test is skipped. */
    final boolean isRunning() {
        return contract.isRunning();
    }

    final BackendFixture fixture() {
        return bench().fixture();
    }

    /** The client under test. */
    final LockClient client() {
        return bench().client("client");
    }

    /** A client that competes with it. */
    final LockClient rival() {
        return bench().client("rival");
    }

    final DistributedLock lock() {
        return client().lock(NAME);
    }

    final DistributedLock rivalLock() {
        return rival().lock(NAME);
    }

    final LockClient open(UnaryOperator<LockClient.Builder> settings) {
        return bench().open(settings);
    }

    /** A client whose requests end sooner than it takes to connect on a busy machine. */
    final LockClient openGivingUpSoon(UnaryOperator<LockClient.Builder> settings) {
        return bench().openRetrying(
                        "its request timeout, which is for the requests of the test, also limits connecting", settings);
    }

    /**
     * A client whose holds end soon when it cannot reach the engine. It gives a request up before they do: a renewal that
     * is not answered must be tried again in time.
     */
    final LockClient openShortLived(String name) {
        return openShortLived(name, shortTtl().multipliedBy(2).dividedBy(3));
    }

    private LockClient openShortLived(String name, Duration requestTimeout) {
        return openGivingUpSoon(builder -> builder.clientName(name)
                .ttl(shortTtl())
                .requestTimeout(requestTimeout)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50)));
    }

    /** A client whose holds would end within a test if they were not renewed. */
    final LockClient openRenewing(String name) {
        return open(builder -> builder.clientName(name).ttl(renewedTtl()));
    }

    /**
     * The same as a short-lived one, which gives a request up soon as well. A call without a time of its own may fail by
     * that on a busy machine, so what it holds is taken with {@link Bench#PATIENCE}.
     */
    final LockClient openImpatient(String name) {
        return openShortLived(name, shortRequestTimeout());
    }

    /** Takes a lock for the calling thread, for a client that gives requests up soon. */
    static void takePatiently(DistributedLock lock) throws InterruptedException {
        Assertions.assertThat(lock.tryLock(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
    }

    /** A part of a test. */
    @FunctionalInterface
    interface Case<T> {
        void check(T value) throws Exception;
    }

    /**
     * Checks several cases with the same clients, one after the other. Clients cost more than most cases do; cases that
     * wait are tests of their own.
     */
    static <T> void forEach(Iterable<T> values, Case<T> step) throws Exception {
        for (T value : values) {
            try {
                step.check(value);
            } catch (Exception | AssertionError e) {
                throw new AssertionError("failed for " + value + ": " + e.getMessage(), e);
            }
        }
    }

    final Actor actor(String name) {
        return bench().actor(name);
    }

    final Duration shortTtl() {
        return fixture().ttl();
    }

    /**
     * The ttl of tests that hold a lock for longer than it: a machine that is busy for a second or two must not keep a
     * renewal from being answered in time. Such a test lasts for {@link #longerThanRenewedTtl()}, by which a hold that is
     * not renewed has ended.
     */
    final Duration renewedTtl() {
        Duration twice = shortTtl().multipliedBy(2);
        return twice.compareTo(LEAST_RENEWED_TTL) < 0 ? LEAST_RENEWED_TTL : twice;
    }

    final Duration longerThanRenewedTtl() {
        return renewedTtl().multipliedBy(5).dividedBy(4);
    }

    /** For tests that wait until it has passed, and for no others: it is short on a busy machine. */
    static Duration shortRequestTimeout() {
        return Duration.ofMillis(500);
    }

    /** The random numbers of one attempt; failures name the seed, so that it can be run again. */
    static Random random(long seed) {
        return new Random(seed * 0x9E3779B97F4A7C15L);
    }
}
