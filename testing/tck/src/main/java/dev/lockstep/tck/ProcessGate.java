package dev.lockstep.tck;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Lets one test at a time start many processes, in all JVMs that run the contract in parallel: the lock of the file that
 * the system property {@value #FILE} names. Without that property, only the tests of one JVM wait for each other.
 */
final class ProcessGate implements AutoCloseable {
    /** The resource lock of tests that start many processes. */
    static final String PROCESSES = "dev.lockstep.tck.processes";

    private static final String FILE = "lockstep.tck.gate";

    private final @Nullable FileChannel file;

    private ProcessGate(@Nullable FileChannel file) {
        this.file = file;
    }

    /** Waits until the test may start its processes, if it starts many. */
    static ProcessGate enter(TestInfo test) throws IOException {
        String name = System.getProperty(FILE);
        if (name == null || !startsManyProcesses(test)) {
            return new ProcessGate(null);
        }
        Path path = Path.of(name).toAbsolutePath();
        Files.createDirectories(path.getParent());
        FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock unused = file.lock(); // until the file is closed
            return new ProcessGate(file);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private static boolean startsManyProcesses(TestInfo test) {
        return test.getTestMethod().stream()
                .flatMap(method -> Arrays.stream(method.getAnnotationsByType(ResourceLock.class)))
                .anyMatch(lock -> lock.value().equals(PROCESSES));
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }
}
