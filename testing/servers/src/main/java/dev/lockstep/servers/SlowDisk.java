package dev.lockstep.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A disk that is slow for one running server: whenever it asks that a file be safe on the disk, the answer comes later. It
 * is, until this is closed or the server ends. By {@code strace}, which holds the server's system calls back; so it needs the
 * right to trace the server's process, which some machines give to root alone. Thread-safe.
 */
public final class SlowDisk implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String CALLS = "fsync,fdatasync";

    private final Process tracer;

    private SlowDisk(Process tracer) {
        this.tracer = tracer;
    }

    /**
     * Makes the disk slow, from now on.
     *
     * @param server a running server
     * @param delay how much later each answer comes
     * @return what ends it
     * @throws ServerUnavailableException if there is no strace, or it may not trace the server
     */
    public static SlowDisk of(ServerProcess server, Duration delay) {
        Launch launch = Launch.of(
                Program.find("strace", "strace"),
                "-f",
                "-e",
                "trace=" + CALLS,
                "-e",
                "inject=" + CALLS + ":delay_enter=" + TimeUnit.NANOSECONDS.toMicros(delay.toNanos()),
                "-o",
                "/dev/null",
                "-p",
                Long.toString(server.pid()));
        try {
            Path said = Files.createTempFile(server.directory(), "strace-", ".log");
            ProcessBuilder builder = new ProcessBuilder(launch.commandLine())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(said.toFile());
            builder.environment().putAll(launch.environment());
            SlowDisk disk = new SlowDisk(builder.start());
            ServerProcess.orClose(disk, () -> disk.awaitAttached(server, said));
            return disk;
        } catch (IOException e) {
            throw new ServerException("cannot make the disk of " + server + " slow", e);
        }
    }

    private void awaitAttached(ServerProcess server, Path said) {
        String[] text = {""};
        Await.until("strace is attached to " + server, TIMEOUT, () -> {
            boolean ended = !tracer.isAlive();
            text[0] = Files.readString(said);
            return ended || text[0].contains("attached");
        });
        if (!tracer.isAlive()) {
            throw new ServerUnavailableException("strace may not trace " + server + ": " + text[0].strip());
        }
    }

    /** Ends it: delayed requests continue at once. */
    @Override
    public void close() {
        tracer.destroy(); // on SIGTERM it detaches from the server
        boolean interrupted = Thread.interrupted();
        try {
            if (!tracer.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                tracer.destroyForcibly();
            }
        } catch (InterruptedException e) {
            tracer.destroyForcibly();
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
