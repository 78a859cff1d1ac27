package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class JavaProcessTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Says what it hears. */
    static final class Echo {
        private Echo() {}

        public static void main(String[] args) throws IOException {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            System.out.println("ready " + String.join(" ", args));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println("heard " + line);
            }
        }
    }

    @Test
    void itTalksByLinesAndEndsWithItsInput() {
        JavaProcess process = JavaProcess.start(Echo.class.getName(), "one", "two");
        try (process) {
            assertThat(process.next(PATIENCE)).isEqualTo("ready one two");
            process.send("hello");
            assertThat(process.next(PATIENCE)).isEqualTo("heard hello");
        }
        assertThat(process.isAlive()).isFalse();
        assertThatThrownBy(() -> process.next(PATIENCE)).hasMessageContaining("has ended");
    }

    /** Leaves a file behind, and says where. */
    static final class Litter {
        private Litter() {}

        public static void main(String[] args) throws IOException {
            System.out.println(Files.createTempFile("litter", ""));
            System.in.read();
        }
    }

    @Test
    void itsTemporaryFilesGoWithIt() {
        JavaProcess process = JavaProcess.start(Litter.class.getName());
        Path file = Path.of(process.next(PATIENCE));
        assertThat(file).exists();
        process.kill();
        assertThat(file).doesNotExist();
        assertThat(file.getParent()).doesNotExist();
    }

    @Test
    void whileItIsPausedItSaysNothing() {
        try (JavaProcess process = JavaProcess.start(Echo.class.getName())) {
            process.next(PATIENCE);
            process.pause();
            process.send("hello");
            assertThatThrownBy(() -> process.next(Duration.ofMillis(200))).hasMessageContaining("said nothing");
            process.resume();
            assertThat(process.next(PATIENCE)).isEqualTo("heard hello");
        }
    }

    @Test
    void aKilledProcessIsGone() {
        try (JavaProcess process = JavaProcess.start(Echo.class.getName())) {
            process.next(PATIENCE);
            process.kill();
            assertThat(process.isAlive()).isFalse();
        }
    }
}
