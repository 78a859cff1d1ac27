package dev.lockstep.test;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.spi.Durations;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.ServiceLoader;

/**
 * An engine with faults on command, for tests of code that must handle the loss of a lock or an outage. It puts the faults
 * between its clients and a real engine, so it works with every engine.
 *
 * <pre>{@code
 * TestEngine engine = TestEngine.memory();
 * try (LockClient locks = LockClient.builder().backend(engine).connect()) {
 *     Lease lease = locks.lock("order:42").acquire();
 *     engine.loseLock("order:42");
 *     … // the code under test must stop here: lease.isValid() is false
 * }
 * }</pre>
 *
 * <p>Faults affect all clients that were connected with this object, and no others: a client of {@link #withoutFaults()} on the
 * same engine plays the other process. Nothing has to be reset at the end; close the clients.
 *
 * <p>Safe for use by many threads.
 */
public final class TestEngine implements BackendFactory {
    private final BackendFactory real;
    private final List<FaultyBackend> clients = new ArrayList<>(); // guarded by this
    private Duration grantDelay = Duration.ZERO; // guarded by this
    private boolean away; // guarded by this

    private TestEngine(BackendFactory real) {
        this.real = real;
    }

    /**
     * Makes an engine inside the JVM.
     *
     * @return an engine without locks
     */
    public static TestEngine memory() {
        return new TestEngine(new MemoryEngine());
    }

    /**
     * Puts faults in front of the engine of a URL.
     *
     * @param url as for {@link dev.lockstep.LockClient#connect(String)}; the engine's jar must be on the class path. {@code
     *     memory:} is the same as {@link #memory()}
     * @return an engine that is not connected to yet
     * @throws LockConfigurationException if the URL is malformed, or no engine on the class path has its scheme
     */
    public static TestEngine of(String url) {
        String scheme = url.substring(0, Math.max(0, url.indexOf(':'))).toLowerCase(Locale.ROOT);
        if (url.equals("memory:")) {
            return memory();
        }
        for (BackendProvider provider : ServiceLoader.load(BackendProvider.class, TestEngine.class.getClassLoader())) {
            if (provider.schemes().contains(scheme)) {
                return new TestEngine(provider.parse(url));
            }
        }
        // The URL is not repeated: it may hold a password.
        throw new LockConfigurationException(
                null, "No engine for '" + scheme + ":' is on the class path. Add the engine's artifact to the tests.");
    }

    /**
     * Puts faults in front of an engine that is made in code.
     *
     * @param engine connects to the engine
     * @return an engine that is not connected to yet
     */
    public static TestEngine of(BackendFactory engine) {
        return new TestEngine(Objects.requireNonNull(engine, "engine"));
    }

    /**
     * The engine behind the faults.
     *
     * @return connects clients that no fault affects
     */
    public BackendFactory withoutFaults() {
        return real;
    }

    @Override
    public LockBackend open(BackendContext context) {
        synchronized (this) {
            if (away) {
                throw new LockUnavailableException(null, "The test took the engine away.");
            }
        }
        FaultyBackend backend = new FaultyBackend(real.open(context), context, this);
        synchronized (this) {
            backend.delayGrants(grantDelay);
            if (away) {
                backend.takeAway();
            }
            clients.add(backend);
        }
        return backend;
    }

    @Override
    public String engine() {
        return real.engine();
    }

    @Override
    public String address() {
        return real.address();
    }

    synchronized void closed(FaultyBackend backend) {
        clients.remove(backend);
    }

    /**
     * Revokes a lock from its holders as an operator would; see {@link #loseLock(String, LossReason)}.
     *
     * @param lockName the lock's name
     * @return false if no client of this object held it
     */
    public boolean loseLock(String lockName) {
        return loseLock(lockName, LossReason.REVOKED);
    }

    /**
     * Revokes a lock from its holders. When this returns, their leases are not valid any more; loss actions and listeners
     * are on their way. Then the lock is released at the engine, so that another process gets it.
     *
     * @param lockName the lock's name
     * @param reason the reason that the holders see
     * @return false if no client of this object held it
     */
    public boolean loseLock(String lockName, LossReason reason) {
        boolean any = false;
        for (FaultyBackend backend : clients()) {
            any |= backend.lose(lockName, reason);
        }
        return any;
    }

    /**
     * Makes grants slow: the engine grants a lock at once, but the client hears of it later.
     *
     * @param delay how much later, for each grant from now on; zero to end the fault
     */
    public void delayGrants(Duration delay) {
        Durations.waitNanos(delay); // refuses null
        synchronized (this) {
            grantDelay = delay;
        }
        clients().forEach(backend -> backend.delayGrants(delay));
    }

    /**
     * Takes the engine away: no request reaches it and no answer comes back, until {@link #bringBack()}. New clients cannot
     * connect. Calls fail after the client's request timeout. Held locks are lost when their time to live has passed without
     * renewal, and are free for others then, as they would be at an engine that still runs for others.
     */
    public void takeAway() {
        synchronized (this) {
            away = true;
        }
        clients().forEach(FaultyBackend::takeAway);
    }

    /** Brings the engine back. Requests that are still wanted are sent now; locks whose time has not passed stay held. */
    public void bringBack() {
        synchronized (this) {
            away = false;
        }
        clients().forEach(FaultyBackend::bringBack);
    }

    private synchronized List<FaultyBackend> clients() {
        return List.copyOf(clients);
    }
}
