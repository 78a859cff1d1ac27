package dev.lockstep.test;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AdminBackend;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Traits;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** A backend over another one, with the faults of a {@link TestEngine}. Safe for use by many threads. */
final class FaultyBackend implements LockBackend {
    private final LockBackend real;
    private final BackendContext context;
    private final TestEngine engine;
    private final Wire wire;
    private final FaultyAdmin admin;
    private final Set<FaultyGrant> grants = ConcurrentHashMap.newKeySet(); // those that the client knows of
    private volatile Duration grantDelay = Duration.ZERO;

    FaultyBackend(LockBackend real, BackendContext context, TestEngine engine) {
        this.real = real;
        this.context = context;
        this.engine = engine;
        this.wire = new Wire(context);
        this.admin = new FaultyAdmin(real, wire);
    }

    LockBackend real() {
        return real;
    }

    BackendContext context() {
        return context;
    }

    Wire wire() {
        return wire;
    }

    Duration grantDelay() {
        return grantDelay;
    }

    void delayGrants(Duration delay) {
        grantDelay = delay;
    }

    void add(FaultyGrant grant) {
        grants.add(grant);
    }

    void remove(FaultyGrant grant) {
        grants.remove(grant);
    }

    void takeAway() {
        wire.takeAway();
        grants.forEach(FaultyGrant::stopRenewal);
    }

    void bringBack() {
        grants.forEach(FaultyGrant::resumeRenewal);
        wire.bringBack();
    }

    boolean lose(String lockName, LossReason reason) {
        boolean any = false;
        for (FaultyGrant grant : grants) {
            any |= grant.lockName().equals(lockName) && grant.lose(reason);
        }
        return any;
    }

    @Override
    public Traits traits() {
        return real.traits();
    }

    @Override
    public Claim submit(ClaimRequest request) {
        FaultyClaim claim = new FaultyClaim(this, request);
        wire.carry(claim::submit);
        return claim;
    }

    /** Each lock has a request of its own, so that each can meet a fault of its own. */
    @Override
    public int batchSize() {
        return 1;
    }

    @Override
    public List<Claim> submitAll(List<? extends ClaimRequest> requests) {
        return requests.stream().map(this::submit).toList();
    }

    @Override
    public List<CompletionStage<Boolean>> releaseAll(List<? extends Grant> released, Duration blockAtMost) {
        return released.stream().map(grant -> grant.release(blockAtMost)).toList();
    }

    @Override
    public Watch watch(String name, Runnable changed) {
        return real.watch(name, () -> wire.carry(changed));
    }

    @Override
    public long lastContactNanos() {
        return wire.lastContactNanos(real.lastContactNanos());
    }

    @Override
    public CompletionStage<Void> ping() {
        return wire.ask(null, real::ping);
    }

    @Override
    public CompletionStage<List<String>> namespaces() {
        return wire.ask(null, real::namespaces);
    }

    @Override
    public AdminBackend admin(String namespace) {
        return new FaultyAdmin(real.admin(namespace), wire);
    }

    @Override
    public CompletionStage<EngineInfo> describe() {
        return wire.ask(null, real::describe);
    }

    @Override
    public String address() {
        return real.address();
    }

    @Override
    public CompletionStage<LockInfo> inspect(String name) {
        return admin.inspect(name);
    }

    @Override
    public CompletionStage<List<LockInfo>> list(String prefix) {
        return admin.list(prefix);
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, String cursor, int limit) {
        return admin.list(prefix, cursor, limit);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return admin.forceRelease(name);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, long token) {
        return admin.forceRelease(name, token);
    }

    @Override
    public void close() {
        engine.closed(this);
        real.close();
    }
}
