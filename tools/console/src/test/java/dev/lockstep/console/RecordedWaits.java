package dev.lockstep.console;

import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Clients of one engine in this JVM, whose grants a test can reach: it records by the SPI that a holder waits, at once and for as long as
 * it likes.
 */
final class RecordedWaits {
    private final MemoryEngine engine = new MemoryEngine();
    private final Map<String, Grant> grants = new ConcurrentHashMap<>();

    LockClient client(String name) {
        BackendFactory factory = context -> {
            LockBackend backend = engine.open(context);
            return (LockBackend) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {LockBackend.class}, (proxy, method, arguments) -> {
                        try {
                            Object answer = method.invoke(backend, arguments);
                            if (answer instanceof Claim claim) {
                                String lock = ((ClaimRequest) arguments[0]).name();
                                claim.outcome().thenAccept(outcome -> remember(lock, outcome));
                            }
                            return answer;
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        };
        return LockClient.builder().backend(factory).clientName(name).connect();
    }

    private void remember(String lock, Outcome outcome) {
        if (outcome instanceof Outcome.Granted granted) {
            grants.put(lock, granted.grant());
        }
    }

    /** Records that the holder of one lock waits for another one. */
    void record(String held, String wanted, String thread) {
        Grant grant = Objects.requireNonNull(grants.get(held));
        LockInfo.Wait wait = LockInfo.Wait.of(wanted, LockMode.EXCLUSIVE, thread, Instant.now(), false);
        grant.recordWait(Optional.of(wait)).toCompletableFuture().join();
    }
}
