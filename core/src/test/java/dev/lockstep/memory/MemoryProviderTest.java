package dev.lockstep.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Fallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.memory.Clients.Client;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.spi.Contexts;
import dev.lockstep.spi.VirtualScheduler;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryProviderTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final BackendProvider provider = new MemoryProvider();

    private Client open(String url, String client) {
        BackendContext context = Contexts.of(client, time);
        return new Client(provider.parse(url).open(context), context);
    }

    @AfterEach
    void noEngineIsLeftBehind() {
        assertThat(MemoryProvider.sharedEngines()).isZero();
    }

    @Test
    void isFoundByItsScheme() {
        assertThat(ServiceLoader.load(BackendProvider.class))
                .anySatisfy(found -> assertThat(found.schemes()).containsExactly("memory"));
    }

    @Test
    void withoutANameEachClientHasItsOwnEngine() {
        try (Client one = open("memory:", "one");
                Client two = open("memory:", "two")) {
            Clients.granted(one.tryExclusive("x"));
            Clients.granted(two.tryExclusive("x"));
        }
    }

    @Test
    void aNameIsSharedUntilItsLastClientCloses() {
        Client one = open("memory:shared", "one");
        Client two = open("memory:shared", "two");
        Client other = open("memory:other", "other");
        long first = Clients.granted(one.tryExclusive("x")).token();
        Clients.assertBusy(two.tryExclusive("x"));
        Clients.granted(other.tryExclusive("x"));

        one.close();
        Clients.granted(two.tryExclusive("x"));
        two.close();
        other.close();
        assertThat(MemoryProvider.sharedEngines()).isZero();

        try (Client again = open("memory:shared", "again")) {
            assertThat(Clients.granted(again.tryExclusive("x")).token()).isGreaterThan(first);
        }
    }

    @Test
    void clientsOfOneUrlShareTheEngineInThisJvmThatTheyFallBackTo() {
        try (LockClient one = openFallingBack("memory:one");
                LockClient two = openFallingBack("memory:one");
                LockClient other = openFallingBack("memory:other")) {
            assertThat(one).isNotSameAs(two).isNotSameAs(other);
            assertThat(MemoryProvider.sharedEngines()).isEqualTo(2 * 2);
        }
    }

    private static LockClient openFallingBack(String url) {
        return LockClient.builder().url(url).fallback(Fallback.thisJvmOnly()).connect();
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory://host", "memory:a/b", "memory:?x=1", "memory: ", "memory:a b"})
    void aMalformedUrlIsRefusedWithWhatIsExpected(String url) {
        assertThatThrownBy(() -> provider.parse(url))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("memory:NAME");
    }
}
