package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.JavaProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SqliteTargetTest {
    /** In a process of its own, because a JVM loads a library once, and has its own folder for temporary files. */
    static final class Connects {
        private Connects() {}

        public static void main(String[] args) throws IOException {
            try (ProcessRig rig = new ProcessRig(new SqliteTarget(), "test")) {
                rig.connect().close();
                try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
                    System.out.println("libraries: "
                            + files.filter(file -> file.getFileName().toString().startsWith("sqlite-"))
                                    .count());
                }
            }
        }
    }

    @Test
    void aTortureThatIsKilledLeavesNoLibraryOfSqlite() {
        try (JavaProcess process = JavaProcess.start(Connects.class.getName())) {
            assertThat(process.next(Duration.ofSeconds(60))).isEqualTo("libraries: 0");
        }
    }
}
