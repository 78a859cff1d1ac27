package dev.lockstep.servers;

import dev.lockstep.temp.TempDirs;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/*
 * Overview. A small library in C is loaded into the process in front of the C library (LD_PRELOAD), and answers instead
 * of it what time it is, whether a file may grow and when it is safe. A file that it maps into its memory says what to
 * answer, so a value that a test writes there applies at once. The source is in the resources; it is compiled on first
 * use and kept in the cache.
 */
/**
 * A machine whose wall clock and disk a test can spoil, for servers that are started on it and any other process that has
 * its {@link #environment}. Clocks that measure intervals keep running unchanged. On Linux, for programs that use the C
 * library for these things; that is all servers here but etcd. Thread-safe.
 */
public final class HostFaults implements AutoCloseable {
    private static final String SOURCE = "host-faults.c";
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final Path library;
    private final Path directory;
    private final Path faults;
    private long clockNanos;
    private long latestNanos = Long.MIN_VALUE; // what this JVM's interval clock shows when the wall clock has caught up
    private boolean diskFull;
    private long diskNanos;

    private HostFaults(Path library) {
        this.library = library;
        this.directory = TempDirs.create("host-faults");
        this.faults = directory.resolve("faults");
        write();
    }

    /**
     * A machine with nothing wrong.
     *
     * @return the machine
     * @throws ServerUnavailableException if there is no C compiler here, and Debian's tcc is not available
     */
    public static HostFaults create() {
        String processor = System.getProperty("os.arch");
        if (!System.getProperty("os.name").equals("Linux")
                || !List.of("amd64", "aarch64").contains(processor)) {
            throw new ServerUnavailableException("the clock of a process can be turned on Linux only");
        }
        try (InputStream source = HostFaults.class.getResourceAsStream(SOURCE)) {
            if (source == null) {
                throw new ServerException("missing in the jar: " + SOURCE);
            }
            byte[] code = source.readAllBytes();
            String version = Integer.toHexString(Arrays.hashCode(code));
            Path entry = ServerCache.ofUser().get("host-faults-" + version, (content, work) -> {
                compile(Files.write(work.resolve(SOURCE), code), content.resolve("faults.so"), work);
                return processor;
            });
            return new HostFaults(entry.resolve("faults.so"));
        } catch (IOException e) {
            throw new ServerException("cannot compile " + SOURCE + ": " + e.getMessage(), e);
        }
    }

    private static void compile(Path source, Path library, Path work) throws IOException {
        Program compiler = Program.installed("cc").orElseGet(() -> Program.find("tcc", "tcc"));
        List<String> arguments =
                List.of("-shared", "-fPIC", "-nostdlib", "-fno-builtin", "-o", library.toString(), source.toString());
        Commands.run(work, TIMEOUT, Launch.of(compiler, arguments));
    }

    /**
     * Sets the wall clock forward or back, at once, for all processes of this machine.
     *
     * @param off how far it is off from now on; negative if it is behind; zero if it is right again
     */
    public synchronized void clockOff(Duration off) {
        long shown = System.nanoTime() + clockNanos;
        latestNanos = latestNanos == Long.MIN_VALUE ? shown : Math.max(latestNanos, shown);
        clockNanos = off.toNanos();
        write();
    }

    /** Waits until the wall clock shows a time that it has never shown, though it may have been set back. */
    public void awaitNewTime() {
        Await.until("the clock has caught up", TIMEOUT, () -> {
            synchronized (this) {
                return latestNanos == Long.MIN_VALUE || System.nanoTime() + clockNanos - latestNanos > 0;
            }
        });
    }

    /**
     * Fills the disk, or empties it: while it is full, what is written already can be overwritten, but no file can grow.
     *
     * @param full whether there is no room
     */
    public synchronized void diskFull(boolean full) {
        diskFull = full;
        write();
    }

    /**
     * Makes the disk slow: whenever a process asks that a file be safe on it, the answer comes later.
     *
     * @param later how much later; zero if it is as fast as before
     */
    public synchronized void diskSlow(Duration later) {
        diskNanos = later.toNanos();
        write();
    }

    /**
     * The environment variables of a process on this machine.
     *
     * @return variables to add
     */
    public Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "LOCKSTEP_HOST_FAULTS", faults.toString());
    }

    private void write() {
        ByteBuffer numbers = ByteBuffer.allocate(3 * Long.BYTES).order(ByteOrder.nativeOrder());
        numbers.putLong(clockNanos).putLong(diskFull ? 1 : 0).putLong(diskNanos).flip();
        try (FileChannel file =
                FileChannel.open(faults, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) { // never truncated
            file.write(numbers, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes its files. Processes that are on it are to be closed before. */
    @Override
    public void close() {
        try {
            TempDirs.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
