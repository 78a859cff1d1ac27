package dev.lockstep.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each caller has an exception of its own: with the stack of its thread, and the cause that all share. */
class FailuresTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final Client client = fixture.open(List.of());
    private final DistributedLock lock = client.lock("a");

    @Test
    void aThreadSeesItsOwnStack() throws Exception {
        LockConfigurationException failure = madeElsewhere();
        engine.meanwhile = () -> engine.claim(0).outcome.completeExceptionally(failure);
        LockConfigurationException thrown = catchThrowableOfType(LockConfigurationException.class, lock::lock);
        assertThat(thrown).isNotSameAs(failure).hasMessage(failure.getMessage()).hasCause(failure);
        assertThat(thrown.lockName()).isEqualTo("a");
        assertThat(Stream.of(thrown.getStackTrace()).map(StackTraceElement::getClassName))
                .contains(FailuresTest.class.getName());
    }

    @Test
    void anExceptionThatNamesNoLockGetsTheNameOfTheCallers() {
        List<LockstepException> failures = List.of(
                new LockConfigurationException(null, "wrong"),
                new LockUnavailableException(null, "silent"),
                new LockstepException(null, "other", null));
        for (int i = 0; i < failures.size(); i++) {
            String name = "lock-" + i;
            CompletableFuture<Lease> call = client.lock(name).acquireAsync();
            LockstepException failure = failures.get(i);
            engine.claim(i).outcome.completeExceptionally(failure);
            Throwable thrown = call.handle((lease, error) -> error).join();
            assertThat(thrown).isExactlyInstanceOf(failure.getClass()).hasMessage(failure.getMessage());
            assertThat(((LockstepException) thrown).lockName()).isEqualTo(name);
        }
    }

    private static LockConfigurationException madeElsewhere() throws InterruptedException {
        LockConfigurationException[] made = new LockConfigurationException[1];
        Thread thread = new Thread(() -> made[0] = new LockConfigurationException("a", "Not allowed."));
        thread.start();
        thread.join();
        return made[0];
    }

    @Test
    void twoCallsThatFailTogetherDoNotShareAnException() {
        CompletableFuture<Lease> one = lock.acquireAsync();
        CompletableFuture<Lease> other = lock.acquireAsync();
        IllegalStateException failure = new IllegalStateException("broken");
        engine.claim(0).outcome.completeExceptionally(failure);
        Throwable first = one.handle((lease, error) -> error).join();
        Throwable second = other.handle((lease, error) -> error).join();
        assertThat(first).isInstanceOf(LockUnavailableException.class).hasCause(failure);
        assertThat(second)
                .isInstanceOf(LockUnavailableException.class)
                .hasCause(failure)
                .isNotSameAs(first);
    }

    @Test
    void callsThatACloseEndsDoNotShareAnException() {
        CompletableFuture<Lease> one = lock.acquireAsync();
        CompletableFuture<Lease> other = lock.acquireAsync();
        engine.answersAtOnce = true;
        client.close();
        Throwable first = one.handle((lease, error) -> error).join();
        assertThat(first).isInstanceOf(LockUnavailableException.class);
        assertThat(other.handle((lease, error) -> error).join()).isNotSameAs(first);
    }
}
