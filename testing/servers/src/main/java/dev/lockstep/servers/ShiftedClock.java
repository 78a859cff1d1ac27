package dev.lockstep.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A time of day that one server alone sees, and that can be set forward and back while it runs: a library that is loaded
 * before the server's own, compiled on first use. Thread-safe.
 */
final class ShiftedClock {
    private static final String SOURCE = "shifted-clock.c";
    private static final String LIBRARY = "shifted-clock.so";
    private static final String VERSION = "1";
    private static final Duration COMPILE_TIMEOUT = Duration.ofMinutes(1);

    private final Path library;
    private final Path file;

    /**
     * Makes a clock that is right.
     *
     * @param directory where the server keeps its files
     * @throws ServerUnavailableException if there is no C compiler here
     */
    ShiftedClock(Path directory) {
        file = directory.resolve("clock");
        try {
            library = ServerCache.ofUser()
                    .get("shifted-clock", ShiftedClock::compile)
                    .resolve(LIBRARY);
        } catch (IOException e) {
            throw new ServerUnavailableException("a server with a clock of its own needs a C compiler (cc)", e);
        }
        shift(Duration.ZERO);
    }

    private static String compile(Path content, Path work) throws IOException {
        Path source = work.resolve(SOURCE);
        try (InputStream in = Objects.requireNonNull(ShiftedClock.class.getResourceAsStream(SOURCE), SOURCE)) {
            Files.copy(in, source);
        }
        String target = content.resolve(LIBRARY).toString();
        List<String> command = List.of("cc", "-O2", "-shared", "-fPIC", "-o", target, source.toString());
        Commands.run(work, COMPILE_TIMEOUT, command);
        return VERSION;
    }

    void shift(Duration shift) {
        ByteBuffer nanos = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
        nanos.putLong(0, shift.toNanos());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(nanos, 0);
        } catch (IOException e) {
            throw new ServerException("cannot set the clock", e);
        }
    }

    Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "LOCKSTEP_CLOCK_FILE", file.toString());
    }
}
