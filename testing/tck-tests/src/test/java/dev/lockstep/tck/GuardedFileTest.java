package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuardedFileTest {
    @Test
    void countsAndRefusesAStaleToken(@TempDir Path folder) throws Exception {
        GuardedFile file = new GuardedFile(folder.resolve("counter"));
        file.reset();
        file.increment(5);
        file.increment(7);
        assertThatThrownBy(() -> file.increment(7)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> file.increment(6)).isInstanceOf(IOException.class);
        assertThat(file.count()).isEqualTo(2);
    }
}
