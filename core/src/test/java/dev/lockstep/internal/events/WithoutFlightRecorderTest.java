package dev.lockstep.internal.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A JVM without the module of flight recordings has locks, too. */
@Timeout(120)
class WithoutFlightRecorderTest {
    @Test
    void aClientWorksWithoutTheModule() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        String classPath = Stream.of("dev.lockstep.LockClient", "org.slf4j.Logger", NoFlightRecorder.class.getName())
                .map(WithoutFlightRecorderTest::location)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
        Process process = new ProcessBuilder(List.of(
                        java.toString(),
                        "--limit-modules",
                        "java.base",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath,
                        NoFlightRecorder.class.getName()))
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).contains("held without jdk.jfr");
    }

    private static String location(String className) {
        try {
            return Path.of(Class.forName(className)
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
