package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretFileTest {
    @TempDir
    private Path folder;

    @Test
    void theFileIsReadEachTime() throws Exception {
        Path file = Files.writeString(folder.resolve("password"), "old\n");
        SecretFile secret = SecretFile.of(file.toString());
        assertThat(secret.get()).isEqualTo("old");
        Files.writeString(file, " new \r\n");
        assertThat(secret.get()).isEqualTo(" new ");
        Files.writeString(file, "two\nlines");
        assertThat(secret.get()).isEqualTo("two\nlines");
        assertThat(secret.toString()).contains(file.toString()).doesNotContain("lines");
    }

    @Test
    void aFileThatCannotBeReadIsNamed() throws Exception {
        Path file = folder.resolve("password");
        assertThatThrownBy(() -> SecretFile.of(file.toString()))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(file.toString());
        Files.writeString(file, "old");
        SecretFile secret = SecretFile.of(file.toString());
        Files.delete(file);
        assertThatThrownBy(secret::get)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(file.toString());
    }
}
