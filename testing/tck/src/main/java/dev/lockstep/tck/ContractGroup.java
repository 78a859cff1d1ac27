package dev.lockstep.tck;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.Random;
import java.util.function.UnaryOperator;

/**
 * The base of the contract's parts, one for each topic. Two clients in one test stand for two processes; the lock they
 * compete for is {@link #NAME} unless names are the topic.
 */
abstract class ContractGroup {
    static final String NAME = "order:42";

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

    /** The client that most of a test happens to. */
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

    /** A client whose holds end soon when it cannot reach the engine. */
    final LockClient openShortLived(String name) {
        return openShortLived(name, shortTtl().dividedBy(2));
    }

    /** The same, which gives a request up soon as well. */
    final LockClient openImpatient(String name) {
        return openShortLived(name, shortRequestTimeout());
    }

    private LockClient openShortLived(String name, Duration requestTimeout) {
        return open(builder -> builder.clientName(name)
                .ttl(shortTtl())
                .requestTimeout(requestTimeout)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50)));
    }

    final Actor actor(String name) {
        return bench().actor(name);
    }

    final Duration shortTtl() {
        return fixture().ttl();
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
