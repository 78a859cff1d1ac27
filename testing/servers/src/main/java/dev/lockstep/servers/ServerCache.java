package dev.lockstep.servers;

import dev.lockstep.temp.TempDirs;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/*
 * Overview. An entry is a folder NAME_VERSION. It is filled under another name and then renamed, so that a folder of that
 * name is always complete, and needs no lock to be used. A file lock per name lets one process at a time fill it.
 */
/**
 * Files that servers need and that take long to get, kept in the user's cache folder. Thread-safe, also between
 * processes.
 */
final class ServerCache {
    private static final Object LOCK = new Object();

    private final Path directory;

    ServerCache(Path directory) {
        this.directory = directory;
    }

    /** Fills an entry. */
    @FunctionalInterface
    interface Filler {
        /**
         * Puts an entry's content into a folder.
         *
         * @param content the entry to be, empty
         * @param work a folder for other things, deleted afterwards
         * @return the entry's version
         */
        String fill(Path content, Path work) throws IOException;
    }

    /** The cache of this user. */
    static ServerCache ofUser() {
        String cacheHome = System.getenv("XDG_CACHE_HOME");
        Path parent = cacheHome == null || cacheHome.isEmpty()
                ? Path.of(System.getProperty("user.home"), ".cache")
                : Path.of(cacheHome);
        return new ServerCache(parent.resolve("lockstep").resolve("servers"));
    }

    Path directory() {
        return directory;
    }

    /** The newest entry of a name, made now if there is none. */
    Path get(String name, Filler filler) throws IOException {
        Files.createDirectories(directory);
        Optional<Path> cached = newest(name);
        if (cached.isPresent()) {
            return cached.get();
        }
        Path lockFile = directory.resolve("." + name + ".lock");
        synchronized (LOCK) { // a file lock is between processes only
            try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                cached = lock.isValid() ? newest(name) : Optional.empty();
                return cached.isPresent() ? cached.get() : make(name, filler);
            }
        }
    }

    private Optional<Path> newest(String name) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(directory, name + "_*")) {
            folders.forEach(found::add);
        }
        return found.stream().max(Path::compareTo);
    }

    private Path make(String name, Filler filler) throws IOException {
        Path work = directory.resolve("." + name + ".work");
        TempDirs.delete(work); // what a killed process left
        Path content = Files.createDirectories(work.resolve("content"));
        try {
            String version = filler.fill(content, work);
            return Files.move(content, directory.resolve(name + "_" + version), StandardCopyOption.ATOMIC_MOVE);
        } finally {
            TempDirs.delete(work);
        }
    }
}
