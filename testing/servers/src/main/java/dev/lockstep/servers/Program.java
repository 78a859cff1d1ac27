package dev.lockstep.servers;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A program that can be run.
 *
 * @param path the executable
 * @param environment what it needs in its environment there
 */
record Program(Path path, Map<String, String> environment) {
    /** Where servers are that no user's PATH names. */
    private static final List<String> MORE_FOLDERS = List.of("/usr/local/sbin", "/usr/sbin", "/sbin");

    /**
     * Finds a program: the one that an environment variable names, or one on the PATH, in Debian's folders for servers,
     * in the cache, or at last in Debian's packages.
     *
     * @param name the executable's name
     * @param debianPackages the package it is in, and those that belong to it
     * @throws ServerUnavailableException if it is nowhere
     * @throws ServerException if the environment variable names something that cannot be run
     */
    static Program find(String name, String... debianPackages) {
        return chosen(name)
                .or(() -> installed(name))
                .orElseGet(() -> DebianPackages.get(List.of(debianPackages)).program(name));
    }

    /**
     * The program that the user chose with an environment variable, such as {@code LOCKSTEP_REDIS_SERVER} for {@code
     * redis-server}. Its value is the executable or the folder that contains it.
     *
     * @throws ServerException if the variable names something that cannot be run
     */
    static Optional<Program> chosen(String name) {
        return chosen(name, System::getenv);
    }

    static Optional<Program> chosen(String name, UnaryOperator<@Nullable String> environment) {
        String variable = "LOCKSTEP_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
        String value = environment.apply(variable);
        if (value == null || value.isEmpty()) {
            return Optional.empty();
        }
        Path named = Path.of(value).toAbsolutePath();
        Path executable = Files.isDirectory(named) ? named.resolve(name) : named;
        if (!canRun(executable)) {
            throw new ServerException("the environment variable " + variable + " names " + executable
                    + ", which is not an executable file: set it to a " + name + " binary, or unset it");
        }
        return Optional.of(new Program(executable, Map.of()));
    }

    /**
     * A program of Debian's newest suite, from the cache or from Debian, with libraries of its own.
     *
     * @param name the executable's name
     * @param debianPackages the package it is in, and those that belong to it
     * @throws ServerUnavailableException if it is not available
     */
    static Program newest(String name, String... debianPackages) {
        return DebianPackages.ofSuite("sid", List.of(debianPackages)).program(name);
    }

    /** Finds a program on the PATH or in Debian's folders for servers. */
    static Optional<Program> installed(String name) {
        for (Path folder : folders()) {
            Path candidate = folder.resolve(name);
            if (canRun(candidate)) {
                return Optional.of(new Program(candidate, Map.of()));
            }
        }
        return Optional.empty();
    }

    private static boolean canRun(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }

    /** Another program of the same installation, in the same folder. */
    Program sibling(String name) {
        Path real = path;
        try {
            real = path.toRealPath();
        } catch (IOException e) {
            // Then the path as it is.
        }
        return new Program(real.resolveSibling(name), environment);
    }

    private static List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator, -1)) {
            if (!folder.isEmpty()) {
                folders.add(Path.of(folder));
            }
        }
        MORE_FOLDERS.forEach(folder -> folders.add(Path.of(folder)));
        folders.addAll(postgresFolders());
        return folders;
    }

    /** Debian keeps the servers of several PostgreSQL versions side by side; the newest comes first. */
    private static List<Path> postgresFolders() {
        List<Path> folders = new ArrayList<>();
        Path parent = Path.of("/usr/lib/postgresql");
        if (Files.isDirectory(parent)) {
            try (DirectoryStream<Path> versions = Files.newDirectoryStream(parent)) {
                versions.forEach(version -> folders.add(version.resolve("bin")));
            } catch (IOException e) {
                return List.of();
            }
        }
        Collections.sort(folders, Collections.reverseOrder());
        return folders;
    }
}
