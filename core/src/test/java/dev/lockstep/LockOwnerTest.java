package dev.lockstep;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The owner is read from the text that the engine stores. */
class LockOwnerTest {
    private static LockOwner owner(String thread) {
        HolderInfo holder = HolderInfo.of("client", "host", 1).withThread(thread);
        return LockInfo.Entry.of(LockMode.EXCLUSIVE, holder).owner();
    }

    @ParameterizedTest
    @CsvSource({"worker #42, worker, 42", "worker #3 #42, worker #3, 42", "'#3 #42', '#3', 42"})
    void aThreadHasANameAndAnId(String thread, String name, long id) {
        assertThat(owner(thread).threadName()).hasValue(name);
        assertThat(owner(thread).threadId()).hasValue(id);
    }

    @Test
    void aThreadMayHaveNoName() {
        assertThat(owner("#42").threadName()).isEmpty();
        assertThat(owner("#42").threadId()).hasValue(42);
    }

    @ParameterizedTest
    @CsvSource({"worker", "worker #", "worker #x", "worker#42", "election", "election node #42"})
    void textThatIsNoNameAndIdIsShownUnchanged(String text) {
        assertThat(owner(text).threadName()).hasValue(text);
        assertThat(owner(text).threadId()).isEmpty();
    }

    @Test
    void nothingIsKnownOfAnEmptyText() {
        assertThat(owner("").threadName()).isEqualTo(Optional.empty());
        assertThat(owner("").threadId()).isEmpty();
    }
}
