package dev.lockstep.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.LockUnavailableException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The message about locks that were not free, and the number of requests that it costs. */
class HoldingTest {
    private final LockClient client = LockClient.connect("memory:");
    private final String[] names =
            IntStream.range(100, 200).mapToObj(i -> "lock-" + i).toArray(String[]::new);
    private final DistributedLock lock = client.multiLock(names);
    private final List<String> asked = new ArrayList<>();

    @AfterEach
    void close() {
        client.close();
    }

    private LockTimeoutException busy(Function<String, LockInfo> inspection) {
        LockClient answering = (LockClient) Proxy.newProxyInstance(
                LockClient.class.getClassLoader(), new Class<?>[] {LockClient.class}, (self, method, arguments) -> {
                    asked.add((String) arguments[0]);
                    return inspection.apply((String) arguments[0]);
                });
        return Holding.busy(answering, lock, Duration.ZERO);
    }

    @Test
    void tenLocksOfAHundredAreAskedAbout() {
        client.lock("lock-104").lock();
        assertThat(busy(client::inspect))
                .hasMessageContaining("'lock-103' is free by now")
                .hasMessageContaining("'lock-104' is held by client " + client.name())
                .hasMessageContaining("90 more");
        assertThat(asked).containsExactlyElementsOf(List.of(names).subList(0, 10));
        client.lock("lock-104").unlock();
    }

    @Test
    void anEngineThatDoesNotAnswerIsAskedOnce() {
        assertThat(busy(name -> {
                    throw new LockUnavailableException(name, "silent");
                }))
                .hasMessageContaining("the holder of 'lock-100' is unknown: silent");
        assertThat(asked).containsExactly("lock-100");
    }

    @Test
    void aSlowEngineIsAskedNoMoreAfterASecond() {
        assertThat(busy(name -> {
                    long start = System.nanoTime();
                    while (System.nanoTime() - start < 600_000_000) {
                        Thread.onSpinWait();
                    }
                    return LockInfo.free(name);
                }))
                .hasMessageContaining("'lock-101' is free by now");
        assertThat(asked).containsExactly("lock-100", "lock-101");
    }

    @Test
    void aClientThatIsClosedMeanwhileChangesNothing() {
        client.close();
        assertThat(busy(client::inspect)).hasMessageContaining("the holder of 'lock-100' is unknown");
    }
}
