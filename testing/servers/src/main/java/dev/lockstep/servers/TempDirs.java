package dev.lockstep.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/*
 * Overview. Every JVM has one folder for all its servers' data, X, beside a file X.lock that it keeps locked. A JVM that
 * ends in peace deletes both; one that is killed leaves them, but not the file lock. So the next JVM that starts a server
 * deletes every folder whose lock it can get: a folder is never taken from a living owner, whatever pids say (the temp
 * folder may be shared between containers). A JVM must never open its own lock file a second time: closing it again would
 * end the lock, for POSIX locks belong to the process. So the names of its own are kept where other class loaders see them
 * too, in a system property.
 */
/** Folders for the life of this JVM, deleted when it ends, or by the next JVM if it was killed. Thread-safe. */
public final class TempDirs {
    private static final String PREFIX = "lockstep-servers-";
    private static final String LOCK_SUFFIX = ".lock";
    private static final String OWN_PROPERTY = "lockstep.servers.locks";
    private static final AtomicInteger SERIAL = new AtomicInteger();
    private static final Path TMP = Path.of(System.getProperty("java.io.tmpdir"));

    /** Keeps our lock for as long as the JVM lives. */
    private static final List<FileLock> HELD = new ArrayList<>();

    private static @Nullable Path root;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(TempDirs::atExit, "lockstep-servers-exit"));
    }

    private TempDirs() {}

    /** All that has folders here ends before they are deleted. */
    private static void atExit() {
        JavaProcess.killAll();
        ServerProcess.killAll();
        deleteAll();
    }

    /**
     * Makes a new folder.
     *
     * @param name what its name starts with
     * @return the folder
     */
    public static Path create(String name) {
        try {
            return Files.createDirectory(root().resolve(name + "-" + SERIAL.incrementAndGet()));
        } catch (IOException e) {
            throw new UncheckedIOException("no folder for " + name, e);
        }
    }

    /**
     * Deletes a folder and all that is in it; a file that another process deletes meanwhile does not matter.
     *
     * @param directory the folder
     * @throws IOException if a file cannot be deleted
     */
    public static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static synchronized void deleteAll() {
        Path mine = root;
        if (mine == null) {
            return;
        }
        try {
            delete(mine);
            Files.deleteIfExists(lockOf(mine));
        } catch (IOException e) {
            // The next JVM tries again.
        }
    }

    private static synchronized Path root() throws IOException {
        Path result = root;
        if (result == null) {
            sweep();
            result = makeRoot();
            root = result;
        }
        return result;
    }

    private static Path makeRoot() throws IOException {
        while (true) {
            Path lockFile = Files.createTempFile(PREFIX, LOCK_SUFFIX);
            System.setProperty(OWN_PROPERTY, System.getProperty(OWN_PROPERTY, "") + lockFile.getFileName() + "/");
            FileChannel channel;
            try {
                channel = FileChannel.open(lockFile, StandardOpenOption.WRITE);
            } catch (NoSuchFileException e) {
                continue; // another JVM's sweep was faster than we could open it
            }
            FileLock lock = channel.lock();
            if (Files.exists(lockFile)) { // else another JVM's sweep was faster than our lock
                HELD.add(lock);
                String name = lockFile.getFileName().toString();
                return Files.createDirectory(
                        lockFile.resolveSibling(name.substring(0, name.length() - LOCK_SUFFIX.length())));
            }
            channel.close();
        }
    }

    static void sweep() throws IOException {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(TMP, PREFIX + "*" + LOCK_SUFFIX)) {
            for (Path lockFile : locks) {
                if (!System.getProperty(OWN_PROPERTY, "").contains(lockFile.getFileName() + "/")) {
                    sweep(lockFile);
                }
            }
        }
    }

    private static void sweep(Path lockFile) {
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock != null) {
                String file = lockFile.toString();
                delete(Path.of(file.substring(0, file.length() - LOCK_SUFFIX.length())));
                Files.deleteIfExists(lockFile);
            }
        } catch (IOException | OverlappingFileLockException e) {
            // Another user's, or gone already.
        }
    }

    private static Path lockOf(Path directory) {
        return directory.resolveSibling(directory.getFileName() + LOCK_SUFFIX);
    }
}
