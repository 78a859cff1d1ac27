package dev.lockstep.internal.client;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.LockBackend;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A question of an operator that fails says what was asked. */
class OperatorFailureTest {
    @Test
    void aListThatFailsSaysWhatWasListed() {
        try (LockClient client = whoseListFails(new IllegalStateException("cannot read"))) {
            assertThatThrownBy(() -> client.list("order:"))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("begin with 'order:'")
                    .hasMessageContaining("namespace 'shop'")
                    .hasMessageContaining("cannot read")
                    .hasMessageNotContaining("''");
            assertThatThrownBy(() -> client.list("")).hasMessageContaining("all locks in namespace 'shop'");
        }
    }

    @Test
    void aCursorOfNoPageIsAnIllegalArgument() {
        try (LockClient client = whoseListFails(new IllegalArgumentException("no such cursor"))) {
            assertThatThrownBy(() -> client.list("order:", "x", 10))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no such cursor");
        }
    }

    @Test
    void aListThatIsNotAllowedIsAMatterOfTheSetUp() {
        try (LockClient client = whoseListFails(new LockConfigurationException(null, "no right to list"))) {
            assertThatThrownBy(() -> client.list("order:"))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("'order:'")
                    .hasMessageContaining("no right to list");
        }
    }

    private static LockClient whoseListFails(RuntimeException failure) {
        MemoryEngine engine = new MemoryEngine();
        return LockClient.builder()
                .namespace("shop")
                .backend(context -> failing(engine.open(context), failure))
                .connect();
    }

    private static LockBackend failing(LockBackend backend, RuntimeException failure) {
        return (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(), new Class<?>[] {LockBackend.class}, (proxy, method, args) -> {
                    if (method.getName().equals("list")) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    try {
                        return method.invoke(backend, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
