package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The harness itself, with an engine inside the second process: what it answers, and that it can be paused and killed. */
@Timeout(120)
class SecondProcessTest {
    private static final Duration SOON = Duration.ofMillis(500);

    private static SecondProcess start() {
        return SecondProcess.start("memory:", "tck", Duration.ofSeconds(30));
    }

    @Test
    void carriesOutItsRequests(@TempDir Path folder) throws Exception {
        try (SecondProcess process = start()) {
            assertThat(process.pid()).isNotEqualTo(ProcessHandle.current().pid());
            assertThat(process.ask("ping")).isEqualTo("ok");
            assertThat(process.ask("acquire a")).isEqualTo("ok");
            long token = Long.parseLong(process.ask("token a"));
            assertThat(process.ask("valid a")).isEqualTo("true");
            assertThat(process.ask("release a")).isEqualTo("ok");
            assertThat(process.ask("try a")).isEqualTo("ok");
            assertThat(Long.parseLong(process.ask("token a"))).isGreaterThan(token);
            assertThat(process.ask("release a")).isEqualTo("ok");
            assertThat(process.ask("release a")).isEqualTo("error IllegalArgumentException");
            assertThat(process.ask("fair b")).isEqualTo("ok");
            assertThat(process.ask("permits s 2 3")).isEqualTo("ok");
            assertThat(process.ask("valid s")).isEqualTo("true");
            assertThat(process.ask("release s")).isEqualTo("ok");
            assertThat(process.ask("nonsense")).startsWith("error");
            GuardedFile file = new GuardedFile(folder.resolve("counter"));
            file.reset();
            assertThat(process.ask("count c " + folder.resolve("counter") + " 5"))
                    .isEqualTo("ok");
            assertThat(file.count()).isEqualTo(5);
            assertThat(process.ask("count c " + folder.resolve("no such file") + " 5"))
                    .startsWith("error");
        }
    }

    @Test
    void answersNothingWhileItIsPaused() {
        try (SecondProcess process = start()) {
            process.pause();
            process.tell("ping");
            assertThatThrownBy(() -> process.answer(SOON)).isInstanceOf(AssertionError.class);
            assertThat(process.hasAnswered()).isFalse();
            assertThat(process.isAlive()).isTrue();
            process.resume();
            assertThat(process.answer()).isEqualTo("ok");
        }
    }

    @Test
    void endsWhenItIsKilled() {
        try (SecondProcess process = start()) {
            process.kill();
            assertThat(process.isAlive()).isFalse();
            assertThatThrownBy(() -> process.ask("ping")).isInstanceOfAny(AssertionError.class, RuntimeException.class);
        }
    }

    /** As SQLite's driver does with its native library. */
    @Test
    void leavesNoTemporaryFilesEvenIfItIsKilled() throws Exception {
        try (SecondProcess process = start()) {
            assertThat(process.ask("temporary")).startsWith(process.temporary().toString());
            process.kill();
            assertThat(process.temporary()).doesNotExist();
        }
    }

    @Test
    void endsWhenItIsClosedEvenIfItIsPaused() {
        SecondProcess process = start();
        process.pause();
        process.close();
        assertThat(process.isAlive()).isFalse();
        process.close();
    }

    @Test
    void saysSoIfItCannotConnect() {
        assertThatThrownBy(() -> SecondProcess.start("nosuchengine:", "tck", Duration.ofSeconds(30)))
                .isInstanceOf(AssertionError.class);
    }
}
